// The functions of sinter/device.h: the report on this machine, with and without a compiler, and
// device memory counters.
#include <gtest/gtest.h>
#include <sinter/cuda.h>
#include <sinter/device.h>
#include <sinter/error.h>
#include <sinter/ops.h>
#include <sinter/tensor.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "src/cuda/driver.h"
#include "src/runtime/temporary_directory.h"

namespace sinter {
namespace {

DeviceInfo device_called(const std::string& name) {
  for (const DeviceInfo& info : devices())
    if (info.name == name) return info;
  return {};
}

TEST(Devices, TheCpuSaysWhatItFound) {
  const DeviceInfo cpu = device_called("cpu");
  EXPECT_TRUE(cpu.available) << cpu.note;
  for (const char* found : {" thread", "-byte vectors", "kernels "})
    EXPECT_NE(cpu.description.find(found), std::string::npos) << cpu.description;
  // There is a note exactly if something is missing.
  EXPECT_EQ(cpu.note.empty(), cpu.description.find("interpreted") == std::string::npos) << cpu.note;
}

TEST(Devices, CudaIsThereOrNamedAsMissing) {
  const DeviceInfo cuda = device_called("cuda");
  EXPECT_EQ(cuda.name, "cuda");
  EXPECT_EQ(cuda.available, cuda.note.empty());
  EXPECT_EQ(cuda.available, !cuda.description.empty());
  if (const std::string why = why_no_cuda(); !why.empty()) {
    EXPECT_EQ(cuda.note, why + "; until then no GPU is used");
  }
}

TEST(Devices, WithoutAGpuTheReasonIsToldToWhoAsksForOne) {
  const std::string why = why_no_cuda();
  if (why.empty()) GTEST_SKIP() << "this machine has a driver and a GPU";
  const Tensor x = zeros({2});
  const std::function<void()> calls[] = {[] { device_memory("cuda"); },
                                         [] { synchronize("cuda:1"); },
                                         [] { set_default_device("cuda"); },
                                         [&] { x.to("cuda:0"); },
                                         [] { zeros({3}, DType::f32, "cuda"); },
                                         [] { cuda_stream(); },
                                         [] {
                                           from_vector<float>({1, 2}, {2}, "cuda");
                                         }};
  for (const auto& call : calls) {
    try {
      call();
      ADD_FAILURE();
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.what(), why);
    }
  }
  EXPECT_EQ(default_device(), "cpu");
}

TEST(Devices, TheDefaultIsTheCpu) {
  EXPECT_EQ(default_device(), "cpu");
  set_default_device("cpu");
  EXPECT_EQ(zeros({2}).device(), "cpu");
  EXPECT_THROW(set_default_device("tpu"), UserError);
  EXPECT_EQ(default_device(), "cpu");
  synchronize("cpu");
}

TEST(Devices, TheDefaultComesFromTheEnvironment) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto fails_with_its_name = [] {
    setenv("SINTER_DEVICE", "gpu7", 1);
    try {
      zeros({2});
    } catch (const UserError& error) {
      std::fprintf(stderr, "%s", error.what());
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(fails_with_its_name(), testing::ExitedWithCode(0), "there is no device 'gpu7'");
}

TEST(Devices, EachIsListedOnce) {
  std::vector<std::string> names;
  for (const DeviceInfo& info : devices()) names.push_back(info.name);
  EXPECT_EQ(std::count(names.begin(), names.end(), "cpu"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "cuda"), 1);
}

// The environment is read once per process, so these run in their own process. It prints "ok" or
// the CPU's report.
void report_cpu(const char* variable, const char* value,
                const std::function<bool(const DeviceInfo&)>& as_expected) {
  for (const char* inherited : {"SINTER_CXX", "SINTER_NUM_THREADS"}) unsetenv(inherited);
  const TemporaryDirectory cache;
  setenv("SINTER_CACHE_DIR", cache.path().c_str(), 1);
  setenv(variable, value, 1);
  const DeviceInfo cpu = device_called("cpu");
  std::fprintf(stderr, "%s", as_expected(cpu) ? "ok" : (cpu.description + "; " + cpu.note).c_str());
  std::_Exit(0);
}

TEST(DevicesDeathTest, WithoutACompilerTheNoteSaysWhatThatCosts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto interpreted = [](const DeviceInfo& cpu) {
    return cpu.available &&
           cpu.note ==
               "no C++ compiler is used (SINTER_CXX is none): kernels that are not in the cache "
               "run "
               "in the interpreter, hundreds of times slower" &&
           cpu.description.ends_with("kernels interpreted");
  };
  EXPECT_EXIT(report_cpu("SINTER_CXX", "none", interpreted), testing::ExitedWithCode(0), "ok$");
  const auto not_found = [](const DeviceInfo& cpu) {
    return cpu.available &&
           cpu.note ==
               "no C++ compiler found (looked for c++, g++, clang++): kernels that are not in the "
               "cache run in the interpreter, hundreds of times slower; install g++ or set "
               "SINTER_CXX";
  };
  EXPECT_EXIT(report_cpu("PATH", "/nonexistent", not_found), testing::ExitedWithCode(0), "ok$");
}

TEST(DevicesDeathTest, ACompilerThatFailsIsNamedWithWhatThatCosts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto broken = [](const DeviceInfo& cpu) {
    return cpu.available &&
           cpu.note.starts_with(
               "the compiler /bin/false compiles nothing (exit status 1): calls ") &&
           device_called("simt").note.starts_with("the compiler /bin/false compiles nothing");
  };
  EXPECT_EXIT(report_cpu("SINTER_CXX", "/bin/false", broken), testing::ExitedWithCode(0), "ok$");
}

TEST(DevicesDeathTest, ADeviceThatCannotBeMadeIsReportedWithTheReason) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto unavailable = [](const DeviceInfo& cpu) {
    return !cpu.available && cpu.description.empty() &&
           cpu.note.starts_with("[SINTER_NUM_THREADS] expected a whole number");
  };
  EXPECT_EXIT(report_cpu("SINTER_NUM_THREADS", "many", unavailable), testing::ExitedWithCode(0),
              "ok$");
}

TEST(DeviceMemory, CountsTensors) {
  const std::size_t before = device_memory().in_use;
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  {
    const Tensor t = from_vector(std::vector<float>(kBytes / sizeof(float)), {1024, 1024});
    EXPECT_GE(device_memory("cpu").in_use, before + kBytes);
  }
  EXPECT_EQ(device_memory().in_use, before);
  EXPECT_GE(device_memory().peak, before + kBytes);
  EXPECT_GE(device_memory().cached, kBytes);
  reset_peak_memory();
  EXPECT_EQ(device_memory().peak, before);
  release_cached_memory();
  EXPECT_EQ(device_memory().cached, 0);
}

TEST(DeviceMemory, AnUnknownDeviceIsToldTheKnownOnes) {
  const std::function<void()> calls[] = {[] { device_memory("tpu"); },
                                         [] { reset_peak_memory("tpu"); },
                                         [] { release_cached_memory("tpu"); },
                                         [] { zeros({2}).to("tpu"); }, [] { synchronize("tpu"); }};
  for (const auto& call : calls) {
    try {
      call();
      FAIL();
    } catch (const UserError& error) {
      EXPECT_EQ(
          std::string(error.what()).find("[device] there is no device 'tpu', known ones are: "), 0u)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace sinter
