// The driver's loader: distinguishes every way of lacking a driver, with a fake one; and this
// machine's driver, if any.
#include "src/cuda/driver.h"

#include <gtest/gtest.h>
#include <sinter/bench.h>
#include <sinter/error.h>

#include <thread>

#include "tests/cuda/fake/load_fake.h"

namespace sinter {
namespace {

DeviceError error_of_load(const std::string& path) {
  try {
    CudaDriver::load(path);
  } catch (const DeviceError& error) {
    return error;
  }
  return {"loaded", "", -1};
}

TEST(CudaDriver, LoadsAndAsksForTheSignaturesItKnows) {
  FakeCuda& fake = fresh_fake();
  const auto driver = CudaDriver::load(SINTER_FAKE_CUDA);
  EXPECT_EQ(driver->version(), 12040);
  EXPECT_EQ(fake.calls["cuInit"], 1);
  EXPECT_EQ(fake.asked_versions, std::set<int>{kCudaNeededVersion});
  EXPECT_EQ(fake.asked_flags, std::set<unsigned long long>{1});
}

TEST(CudaDriver, WithoutGetProcAddressSymbolsAreUsed) {
  fresh_fake(SINTER_FAKE_CUDA_BY_SYMBOL);
  const auto driver = CudaDriver::load(SINTER_FAKE_CUDA_BY_SYMBOL);
  std::size_t bytes = 0;
  driver->device_total_mem(&bytes, 0);
  EXPECT_EQ(bytes, std::size_t{140} << 30);
}

TEST(CudaDriver, NoLibrary) {
  const DeviceError error = error_of_load("libcuda_of_nobody.so.1");
  const std::string what = error.what();
  EXPECT_EQ(what.find("no NVIDIA driver was found (libcuda_of_nobody.so.1"), 0u) << what;
  EXPECT_NE(what.find("install the driver"), std::string::npos) << what;
  EXPECT_EQ(error.call(), "dlopen");
}

TEST(CudaDriver, SomeOtherLibrary) {
  const DeviceError error = error_of_load("libm.so.6");
  EXPECT_STREQ(error.what(), "libm.so.6 is not an NVIDIA driver: it has no cuDriverGetVersion");
}

TEST(CudaDriver, TooOld) {
  FakeCuda& fake = fresh_fake();
  fake.version = 11080;
  const DeviceError error = error_of_load(SINTER_FAKE_CUDA);
  EXPECT_STREQ(error.what(),
               "the NVIDIA driver is for CUDA 11.8, and CUDA 12.0 or newer is needed: update the "
               "driver");
  EXPECT_EQ(error.call(), "cuDriverGetVersion");
  EXPECT_EQ(fake.calls["cuInit"], 0);
  fake.version = 12000;
  EXPECT_EQ(CudaDriver::load(SINTER_FAKE_CUDA)->version(), 12000);
}

TEST(CudaDriver, VersionUnknown) {
  FakeCuda& fake = fresh_fake();
  fake.failing_call = "cuDriverGetVersion";
  fake.failing_code = 34;  // the toolkit's stub returns this
  const DeviceError error = error_of_load(SINTER_FAKE_CUDA);
  EXPECT_EQ(error.code(), 34);
  EXPECT_NE(std::string(error.what()).find("stub"), std::string::npos) << error.what();
}

TEST(CudaDriver, AFunctionIsMissing) {
  FakeCuda& fake = fresh_fake();
  fake.hidden = "cuMemsetD32Async";
  const DeviceError error = error_of_load(SINTER_FAKE_CUDA);
  const std::string what = error.what();
  EXPECT_NE(what.find("CUDA 12.4) has no cuMemsetD32Async"), std::string::npos) << what;
  EXPECT_EQ(error.call(), "cuMemsetD32Async");
}

TEST(CudaDriver, DoesNotStart) {
  FakeCuda& fake = fresh_fake();
  fake.failing_call = "cuInit";
  fake.failing_code = kCudaNoDevice;
  const DeviceError error = error_of_load(SINTER_FAKE_CUDA);
  EXPECT_STREQ(error.what(),
               "the NVIDIA driver does not start: cuInit gives CUDA_ERROR_NO_DEVICE (100): no "
               "CUDA-capable device is detected; check that nvidia-smi lists a GPU and "
               "CUDA_VISIBLE_DEVICES does not hide it");
  EXPECT_EQ(error.call(), "cuInit");
  EXPECT_EQ(error.code(), kCudaNoDevice);
}

TEST(CudaDriver, StartsWithoutADevice) {
  fresh_fake().devices = 0;
  const DeviceError error = error_of_load(SINTER_FAKE_CUDA);
  EXPECT_EQ(error.call(), "cuDeviceGetCount");
  EXPECT_EQ(error.code(), kCudaNoDevice);
}

TEST(CudaDriver, AFailingCallIsNamedWithItsCode) {
  FakeCuda& fake = fresh_fake();
  const auto driver = CudaDriver::load(SINTER_FAKE_CUDA);
  fake.failing_call = "cuDeviceGetName";
  fake.failing_code = 700;
  try {
    cuda_devices(*driver);
    FAIL();
  } catch (const OutOfMemoryError&) {
    FAIL() << "only code 2 is about memory";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "[cuDeviceGetName] CUDA_ERROR_FAKE (700): as the test wanted");
    EXPECT_EQ(error.call(), "cuDeviceGetName");
    EXPECT_EQ(error.code(), 700);
  }
  EXPECT_EQ(driver->error_text(12345), "unknown error 12345");
}

TEST(CudaDriver, OutOfMemoryHasItsOwnError) {
  FakeCuda& fake = fresh_fake();
  const auto driver = CudaDriver::load(SINTER_FAKE_CUDA);
  fake.failing_call = "cuMemAlloc";
  fake.failing_code = kCudaOutOfMemory;
  CUdeviceptr address = 0;
  EXPECT_THROW(driver->mem_alloc(&address, 1), OutOfMemoryError);
  EXPECT_EQ(driver->mem_alloc.code(&address, 1), kCudaOutOfMemory);
}

TEST(CudaDriver, DevicesAreDescribed) {
  fresh_fake();
  const auto driver = CudaDriver::load(SINTER_FAKE_CUDA);
  const std::vector<CudaDeviceDescription> devices = cuda_devices(*driver);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].name, "Fake GPU 1");
  EXPECT_EQ(devices[1].compute_major, 9);
  EXPECT_EQ(devices[1].compute_minor, 1);
  EXPECT_EQ(devices[1].memory_bytes, std::size_t{140} << 30);
  EXPECT_EQ(devices[1].l2_bytes, std::size_t{50} << 20);
  EXPECT_EQ(devices[1].sm_count, 132);
}

TEST(ThisMachinesCuda, WithoutItTheReasonIsTheSameEverywhere) {
  const std::string why = why_no_cuda();
  if (why.empty()) GTEST_SKIP() << "this machine has a driver and a GPU";
  if (why.starts_with("no NVIDIA driver was found")) {
    EXPECT_NE(why.find(kCudaLibrary), std::string::npos) << why;
  }
  const std::function<void()> calls[] = {[] { cuda_driver(); }, [] { cuda_devices(); },
                                         [] { bench([] {}, {.clock = BenchClock::cuda}); },
                                         [] { host_cost_us([] {}, {.clock = BenchClock::cuda}); }};
  for (const auto& call : calls) {
    try {
      call();
      ADD_FAILURE();
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.what(), why);
      EXPECT_NE(error.call(), "");
    }
  }
}

TEST(ThisMachinesCuda, IsLoadedOnceForAllThreads) {
  std::vector<const CudaDriver*> seen(8);
  std::vector<std::thread> threads;
  for (const CudaDriver*& each : seen)
    threads.emplace_back([&each] { each = why_no_cuda().empty() ? &cuda_driver() : nullptr; });
  for (std::thread& thread : threads) thread.join();
  for (const CudaDriver* each : seen) EXPECT_EQ(each, seen.front());
}

TEST(ThisMachinesCuda, DescribesItsDevices) {
  if (const std::string why = why_no_cuda(); !why.empty()) GTEST_SKIP() << why;
  EXPECT_GE(cuda_driver().version(), kCudaNeededVersion);
  const std::vector<CudaDeviceDescription> devices = cuda_devices();
  ASSERT_FALSE(devices.empty());
  for (const CudaDeviceDescription& device : devices) {
    EXPECT_NE(device.name, "");
    EXPECT_GE(device.compute_major, 5);
    EXPECT_GE(device.memory_bytes, std::size_t{1} << 30);
    EXPECT_GE(device.l2_bytes, std::size_t{1} << 18);
    EXPECT_GE(device.sm_count, 1);
  }
}

TEST(ThisMachinesCuda, NamesItsErrors) {
  if (const std::string why = why_no_cuda(); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(cuda_driver().error_text(2).find("CUDA_ERROR_OUT_OF_MEMORY (2): "), 0u);
  CUdevice device = 0;
  try {
    cuda_driver().device_get(&device, 9999);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.call(), "cuDeviceGet");
    EXPECT_EQ(error.code(), 101);  // CUDA_ERROR_INVALID_DEVICE
  }
}

}  // namespace
}  // namespace sinter
