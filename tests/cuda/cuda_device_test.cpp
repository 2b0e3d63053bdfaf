// The CUDA device through the API: on the fake driver, its calls (nothing is computed there); on a
// GPU, its results.
#include "src/cuda/cuda_device.h"

#include <sinter/sinter.h>

#include <filesystem>
#include <numeric>
#include <thread>

#include "src/api/dlpack.h"
#include "src/runtime/compile_kernel.h"
#include "src/runtime/registry.h"
#include "src/tile/builder.h"
#include "tests/cuda/fake/fake_device.h"

namespace sinter {
namespace {

using CudaDeviceTest = FakeDevice;

TEST_F(CudaDeviceTest, SaysWhatItIs) {
  const auto device = make();
  EXPECT_EQ(device->name(), "cuda");
  EXPECT_EQ(make(1)->name(), "cuda:1");
  EXPECT_EQ(device->description(), "Fake GPU 0, 132 SMs, 140 GiB, sm_90, driver 12.4, NVRTC 12.8");
  EXPECT_EQ(device->model(), "Fake GPU 0 sm_90");
  EXPECT_EQ(device->compiler_version(), "NVRTC 12.8 for sm_90a");
  EXPECT_EQ(device->parallelism(), 132);
  EXPECT_FALSE(device->shares_host_memory());
  const Machine machine = device->machine();
  EXPECT_EQ(machine.kind, MachineKind::gpu);
  EXPECT_EQ(machine.cache_bytes, 50 << 20);
  EXPECT_EQ(machine.multiprocessors, 132);
  EXPECT_EQ(machine.largest_cluster, 8);
  EXPECT_EQ(machine.threads_per_multiprocessor, 1536);
  EXPECT_EQ(machine.blocks_per_multiprocessor, 24);
  EXPECT_EQ(machine.registers_per_multiprocessor, 32768);
  EXPECT_NEAR(*device->peak_flops(), 2.0 * 132 * 128 * 1.98e9, 1e6);
}

TEST_F(CudaDeviceTest, AForgottenKernelIsUnloadedUnlessSomebodyHoldsIt) {
  tile::Builder builder("fill");
  const int y = builder.add_buffer("y", DType::f32, true);
  builder.store(y, builder.arange(tile::Axis::cols, 32), builder.real(1, DType::f32),
                tile::kNoValue);
  const tile::TileProgram program = builder.finish();
  const auto device = make();
  KernelPtr kernel = compile_kernel(*device, program);
  device->forget(program);
  EXPECT_EQ(fake_.modules.size(), 1u);
  EXPECT_EQ(compile_kernel(*device, program), kernel);
  kernel.reset();
  device->forget(program);
  EXPECT_TRUE(fake_.modules.empty());
  EXPECT_TRUE(compile_kernel(*device, program));
}

TEST_F(CudaDeviceTest, ItsBandwidthIsMeasuredOnce) {
  fake_.memory_bytes = std::size_t{1} << 30;  // little: copies of an eighth
  const auto device = make();
  EXPECT_NEAR(device->copy_bandwidth(), 4e12, 1e10);
  const int copies = fake_.calls["cuMemcpyDtoDAsync"];
  EXPECT_NEAR(device->copy_bandwidth(), 4e12, 1e10);
  EXPECT_EQ(fake_.calls["cuMemcpyDtoDAsync"], copies);
}

TEST_F(CudaDeviceTest, MissingAndOldGpusAreDeviceErrors) {
  EXPECT_THROW(make(2), DeviceError);
  fake_.compute_major = 7;
  EXPECT_THROW(make(), DeviceError);
  EXPECT_EQ(fake_.primary_holds, 0);
}

TEST_F(CudaDeviceTest, CopiesWaitForTheHostsSide) {
  const auto device = make();
  const StoragePtr storage = device->allocate(16);
  const std::vector<int> in = {1, 2, 3, 4};
  device->copy_from_host(storage->data(), in.data(), 16);
  std::vector<int> out(4);
  device->copy_to_host(out.data(), storage->data(), 16);
  EXPECT_EQ(out, in);
  EXPECT_EQ(fake_.stream_log, (std::vector<std::string>{"copy in", "wait", "copy out", "wait"}));
  device->copy_to_host(nullptr, nullptr, 0);
  device->synchronize();
  EXPECT_EQ(fake_.streams, std::vector<void*>(5, device->streams().own()));
}

// --- through the API
// ------------------------------------------------------------------------------

// A registered device stays for the process: it has its own driver, which no test resets.
class FakeCudaApi : public testing::Test {
 protected:
  FakeCudaApi() : fake_(state()) {
    fake_.launches.clear();
    fake_.graph_nodes.clear();
    fresh_fake_nvrtc();
  }

  static FakeCuda& state() {
    static FakeCuda& fake = [&]() -> FakeCuda& {
      FakeCuda& made = fresh_fake(SINTER_FAKE_CUDA_REGISTERED);
      static const CudaDriver& driver = *CudaDriver::load(SINTER_FAKE_CUDA_REGISTERED).release();
      register_device("fake", [] {
        CudaDeviceOptions options;
        options.driver = &driver;
        options.nvrtc_paths = {SINTER_FAKE_NVRTC};
        return std::make_shared<CudaDevice>(options);
      });
      return made;
    }();
    return fake;
  }

  FakeCuda& fake_;
};

const std::vector<float> kSix = {0, 1, 2, 3, 4, 5};

TEST_F(FakeCudaApi, TensorsMoveThereAndBack) {
  const Tensor x = from_vector(kSix, {2, 3}, "fake");
  EXPECT_EQ(x.device(), "cuda");
  EXPECT_EQ(x.to_vector<float>(), kSix);
  const Tensor back = x.to("cpu");
  EXPECT_EQ(back.device(), "cpu");
  EXPECT_EQ(back.to_vector<float>(), kSix);
  EXPECT_EQ(back.to("fake").to_vector<float>(), kSix);
  EXPECT_EQ(x.to("fake").data(), x.data());  // there already
  const Tensor transposed = transpose(from_vector(kSix, {2, 3}), 0, 1).to("fake");
  EXPECT_EQ(transposed.to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(from_vector(std::vector<float>{}, {0}).to("fake").to("cpu").numel(), 0);
  EXPECT_EQ(from_vector(kSix, {6}, "fake").device(), "cuda");
}

TEST_F(FakeCudaApi, AProgramRunsWhereItsInputsAre) {
  const Tensor x = from_vector(kSix, {2, 3}, "fake");
  std::vector<std::string> traced_on;
  const auto f = compile([&](const Tensor& a) {
    traced_on.push_back(a.device());
    return a * 2.0 + full({3}, 1);
  });
  EXPECT_EQ(f(x).device(), "cuda");
  EXPECT_EQ(fake_.launches.size(), 1u);
  const Tensor host = from_vector(kSix, {2, 3});
  EXPECT_EQ(f(host).to_vector<float>(), (std::vector<float>{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(fake_.launches.size(), 1u);
  EXPECT_EQ(traced_on, (std::vector<std::string>{"cuda", "cpu"}));
  EXPECT_EQ((x + x).device(), "cuda");
  EXPECT_EQ(zeros({4}, DType::f32, "fake").device(), "cuda");
  EXPECT_EQ(arange(0, 4, 1, std::nullopt, "fake").device(), "cuda");
  EXPECT_EQ(fake_.launches.size(), 4u);
  EXPECT_EQ(zeros({4}).device(), "cpu");
}

TEST_F(FakeCudaApi, TheDefaultDeviceTakesNewTensors) {
  set_default_device("fake");
  const Tensor a = zeros({3});
  const Tensor b = from_vector(kSix, {6});
  set_default_device("cpu");
  EXPECT_EQ(a.device(), "cuda");
  EXPECT_EQ(b.device(), "cuda");
  EXPECT_EQ(zeros({3}).device(), "cpu");
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(FakeCudaApi, InputsOnTwoDevicesAreRefused) {
  const Tensor here = from_vector(kSix, {6});
  const Tensor there = from_vector(kSix, {6}, "fake");
  EXPECT_EQ(error_of([&] { here + there; }),
            "[add] input 0 is on cpu, input 1 on cuda; move one of them with to()");
  EXPECT_EQ(error_of([&] {
              concat({there, there, here});
            }),
            "[concat] input 0 is on cuda, input 2 on cpu; move one of them with to()");
  const auto f = compile([](const Tensor& a, const Tensor& b) { return a * b; });
  EXPECT_EQ(error_of([&] { f(there, here); }),
            "[compile] input 0 is on cuda, input 1 on cpu; move one of them with to()");
  const std::string traced = "; while tracing an unnamed function of 1 tensor with input f32(6)";
  const auto captures = compile([&](const Tensor& a) { return a * here; });
  EXPECT_EQ(error_of([&] { captures(there); }),
            "[compile] a tensor that the function uses is on cpu, its inputs are on cuda; move one "
            "with to()" +
                traced);
  EXPECT_EQ(captures(here).device(), "cpu");
  const auto moves = compile([](const Tensor& a) { return a.to("fake"); });
  EXPECT_EQ(
      error_of([&] { moves(here); }),
      "[to] a function that is being traced runs on one device, cpu; move its inputs" + traced);
  const auto makes = compile([](const Tensor& a) { return a + full({6}, 1, DType::f32, "cpu"); });
  EXPECT_EQ(error_of([&] { makes(there); }),
            "[full] the function runs on cuda, where its inputs are, not on cpu" + traced);
}

TEST_F(FakeCudaApi, WithoutInputsTheCapturedTensorsDecide) {
  const Tensor there = from_vector(kSix, {6}, "fake");
  const auto f = compile_list([&](std::span<const Tensor>) { return std::vector{there * 2.0}; }, 0);
  EXPECT_EQ(f.call({})[0].device(), "cuda");
}

TEST_F(FakeCudaApi, AGraphIsLaunchedInsteadOfKernels) {
  const Tensor x = from_vector(kSix, {2, 3}, "fake");
  const auto f = compile([](const Tensor& a) { return softmax(a, 0) + sum(a, 1, true); },
                         {.fuse = false, .cuda_graph = true});
  const std::size_t before = fake_.graph_launches.size();
  f(x);
  f(x);
  EXPECT_EQ(fake_.graph_launches.size(), before + 2);
  EXPECT_TRUE(fake_.launches.empty());
  EXPECT_GT(fake_.graph_nodes.size(), 1u);
  EXPECT_NE(f.explain().find("launched as one CUDA graph"), std::string::npos);
  f(x.to("cpu"));
  EXPECT_NE(f.explain().find("no CUDA graph: cpu launches kernels one by one"), std::string::npos);
}

TEST_F(FakeCudaApi, FilesAndDlpack) {
  const Tensor x = from_vector(kSix, {2, 3}, "fake");
  const std::string path = testing::TempDir() + "/cuda_device_test.npy";
  save_npy(path, x);
  EXPECT_EQ(load_npy(path).to_vector<float>(), kSix);
  const Tensor loaded = load_npy(path, "fake");
  EXPECT_EQ(loaded.device(), "cuda");
  EXPECT_EQ(loaded.to_vector<float>(), kSix);
  std::filesystem::remove(path);
  DLManagedTensor* managed = to_dlpack(x);
  EXPECT_EQ(managed->dl_tensor.device.device_type, kDlpackCuda);
  EXPECT_EQ(managed->dl_tensor.device.device_id, 0);
  EXPECT_EQ(managed->dl_tensor.data, x.data());
  managed->deleter(managed);
}

TEST_F(FakeCudaApi, TheTextBehindAStage) {
  const Tensor x = from_vector(kSix, {2, 3}, "fake");
  const auto f = compile([](const Tensor& a) { return a + 1; });
  const std::array inputs = {x};
  EXPECT_NE(f.dump("source", inputs).find("SN_KERNEL"), std::string::npos);
  EXPECT_TRUE(f.dump("ptx", inputs).starts_with("ptx of "));
  const std::array on_cpu = {x.to("cpu")};
  EXPECT_EQ(error_of([&] { f.dump("ptx", on_cpu); }),
            "[dump] stage 'ptx' is for GPUs; the program runs on cpu");
}

// --- on a GPU
// -------------------------------------------------------------------------------------

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_cuda(); !why.empty()) GTEST_SKIP() << why;
    try {
      synchronize("cuda");
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  static std::vector<float> numbers(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
  }
};

TEST_F(Gpu, CopiesBothWays) {
  const std::vector<float> values = numbers(1'000'003);
  const Tensor x = from_vector(values, {1'000'003}, "cuda");
  EXPECT_EQ(x.device(), "cuda");
  EXPECT_EQ(x.to_vector<float>(), values);
  EXPECT_EQ(x.to("cpu").to_vector<float>(), values);
}

TEST_F(Gpu, KernelsGiveTheCpusResults) {
  const Tensor x = from_vector(numbers(64 * 1000), {64, 1000}) / 1e4;
  const auto f = compile([](const Tensor& a) { return softmax(a) * 2.0 + sum(a, -1, true); });
  const std::vector<float> expected = f(x).to_vector<float>();
  const std::vector<float> actual = f(x.to("cuda")).to_vector<float>();
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], 1e-4 * std::abs(expected[i]) + 1e-6) << i;
}

TEST_F(Gpu, UnalignedViews) {
  const Tensor x = from_vector(numbers(4097), {4097}, "cuda");
  const std::vector<float> result = (slice(x, 0, 1, 4097) * 2.0).to_vector<float>();
  for (std::size_t i = 0; i < result.size(); ++i)
    ASSERT_EQ(result[i], 2 * static_cast<float>(i + 1));
}

TEST_F(Gpu, AGraphGivesTheSameAndTakesNewInputs) {
  const auto body = [](const Tensor& a) {
    const Tensor b = sum(a, 0, true);
    return softmax(a * 1e-3) + b;
  };
  const auto plain = compile(body);
  const auto graph = compile(body, {.cuda_graph = true});
  for (int round = 0; round < 4; ++round) {
    const Tensor x = from_vector(numbers(300 * 70), {300, 70}, "cuda") + round;
    EXPECT_EQ(graph(x).to_vector<float>(), plain(x).to_vector<float>());
  }
}

TEST_F(Gpu, AStreamOfTheCallers) {
  const CudaDriver& driver = cuda_driver();
  const CudaContextPtr primary = CudaContext::primary(driver, 0);
  CUstream stream = nullptr;
  {
    const ContextScope scope(*primary);
    driver.stream_create(&stream, kCudaStreamNonBlocking);
  }
  const Tensor x = from_vector(numbers(1 << 20), {1 << 20}, "cuda");
  const Tensor before = x + 1;
  Tensor inside;
  {
    const CudaStreamScope scope(stream);
    EXPECT_EQ(cuda_stream(), stream);
    inside = before * 2.0;
  }
  EXPECT_NE(cuda_stream(), stream);
  const std::vector<float> values = (inside - before).to_vector<float>();
  for (std::size_t i = 0; i < values.size(); i += 1013)
    ASSERT_EQ(values[i], static_cast<float>(i + 1));
  const ContextScope scope(*primary);
  driver.stream_synchronize(stream);
  driver.stream_destroy(stream);
}

TEST_F(Gpu, ManyThreadsWithTheirOwnStreams) {
  const CudaContextPtr primary = CudaContext::primary(cuda_driver(), 0);
  const Tensor x = from_vector(numbers(1 << 16), {1 << 16}, "cuda");
  const auto f = compile([](const Tensor& a) { return (a + 1) * 2.0; }, {.cuda_graph = true});
  std::vector<std::string> failures(4);
  std::vector<std::thread> threads;
  for (std::string& failure : failures)
    threads.emplace_back([&] {
      try {
        CUstream stream = nullptr;
        {
          const ContextScope scope(*primary);
          cuda_driver().stream_create(&stream, kCudaStreamNonBlocking);
        }
        {
          const CudaStreamScope scope(stream);
          for (int round = 0; round < 200; ++round) {
            const std::vector<float> values = (f(x) - x * 2.0).to_vector<float>();
            for (const float value : values)
              if (value != 2) failure = "wrong value";
          }
        }
        const ContextScope scope(*primary);
        cuda_driver().stream_synchronize(stream);
        cuda_driver().stream_destroy(stream);
      } catch (const std::exception& error) {
        failure = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
}

TEST_F(Gpu, MemoryRunsOutAndComesBack) {
  release_cached_memory("cuda");
  const std::size_t before = device_memory("cuda").in_use;
  EXPECT_THROW(zeros({std::int64_t{1} << 46}, DType::f32, "cuda"), OutOfMemoryError);
  EXPECT_EQ(device_memory("cuda").in_use, before);
  EXPECT_EQ(zeros({4}, DType::f32, "cuda").to_vector<float>(), std::vector<float>(4));
}

TEST_F(Gpu, ItsBandwidthIsPlausible) {
  const double bandwidth = find_device("cuda")->copy_bandwidth();
  EXPECT_GT(bandwidth, 1e11);
  EXPECT_LT(bandwidth, 2e13);
}

}  // namespace
}  // namespace sinter
