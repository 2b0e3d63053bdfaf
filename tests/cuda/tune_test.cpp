// Tuning on a GPU: results stay right, and the next program uses what was found. On the fake
// driver: the tuner's calls.
#include <gtest/gtest.h>
#include <sinter/sinter.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "src/tune/tuner.h"
#include "tests/cuda/fake/fake_device.h"
#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

// Runs before the environment's options are read, so that these tests use their own tuning file.
const std::string kFile = [] {
  std::string path = ::testing::TempDir() + "gpu-tuning-" + std::to_string(getpid()) + ".json";
  setenv("SINTER_TUNING_FILE", path.c_str(), 1);
  return path;
}();

class FakeTuning : public FakeDevice {
 protected:
  FakeTuning() {
    testing_support::GraphMaker maker;
    maker.output(maker.op(Op::exp, {maker.input({64, 64})}));
    plan_ = make_plan(maker.graph, {});
    fake_.argument_words = 4;
  }
  TunedKernel tune_on(CudaDevice& device) {
    const StoragePtr x = device.allocate(64 * 64 * 4);
    const StoragePtr y = device.allocate(64 * 64 * 4);
    const auto bind = [&](const KernelBuffer& buffer) -> tile::BufferBinding {
      return {(buffer.node == plan_.graph.inputs[0] ? x : y)->data(), 64 * 64};
    };
    TunerOptions options;
    options.compile_threads = 1;  // the fakes are not for many threads
    return tune_kernel(device, {plan_, 0, device.machine(), bind, {}}, options);
  }

  Plan plan_;
};

TEST_F(FakeTuning, MeasuresEveryKernelWithColdCaches) {
  const auto device = make();
  const TunedKernel tuned = tune_on(*device);
  EXPECT_GT(tuned.candidates, 4);
  EXPECT_EQ(tuned.measured, tuned.candidates) << tuned.first_failure;
  EXPECT_EQ(nvrtc_.compiled, tuned.candidates);
  EXPECT_FALSE(tuned.changed()) << "on the fake's clock kernels take no time";
  EXPECT_EQ(fake_.calls["cuCtxResetPersistingL2Cache"], 15 + 30 * (tuned.candidates - 1));
  EXPECT_TRUE(fake_.events.empty()) << "the stopwatch is gone";
}

TEST_F(FakeTuning, AGpuThatIsLostIsAnError) {
  const auto device = make();
  fake_.failing_call = "cuLaunchKernelEx";
  fake_.failing_code = 700;
  fake_.failing_from = 20;
  EXPECT_THROW(tune_on(*device), DeviceError);
}

class GpuTuning : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_cuda(); !why.empty()) GTEST_SKIP() << why;
    try {
      synchronize("cuda");
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  void TearDown() override {
    for (const char* end : {"", ".lock"}) std::filesystem::remove(kFile + end);
  }

  static Tensor values(std::int64_t rows, std::int64_t cols) {
    std::vector<float> all(static_cast<std::size_t>(rows * cols));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<float>(i * 7919 % 10007) / 2000 - 2.5f;
    return from_vector(all, {rows, cols}, "cuda");
  }
  static void expect_softmax(const Tensor& x, const Tensor& y, std::int64_t cols) {
    const std::vector<float> in = x.to_vector<float>();
    const std::vector<float> out = y.to_vector<float>();
    const std::size_t rows = in.size() / static_cast<std::size_t>(cols);
    for (std::size_t row = 0; row < rows; row += 97) {
      const float* a = in.data() + row * static_cast<std::size_t>(cols);
      const float* b = out.data() + row * static_cast<std::size_t>(cols);
      double sum = 0;
      for (std::int64_t i = 0; i < cols; ++i) sum += std::exp(double{a[i]});
      for (std::int64_t i = 0; i < cols; ++i) {
        const double expected = std::exp(double{a[i]}) / sum;
        ASSERT_NEAR(b[i], expected, 1e-5 * expected) << row << " " << i;
      }
    }
  }
};

TEST_F(GpuTuning, SoftmaxStaysRight) {
  const Tensor x = values(4096, 4096);
  const auto f = compile([](const Tensor& a) { return softmax(a); });
  const TuneReport report = tune(f, {{x}}, {.seconds = 2});
  ASSERT_EQ(report.kernels.size(), 1u);
  const KernelTuning& kernel = report.kernels[0];
  EXPECT_GT(kernel.measured, 1) << kernel.first_failure;
  EXPECT_EQ(kernel.wrong, 0);
  EXPECT_EQ(kernel.failed, 0) << kernel.first_failure;
  EXPECT_LE(kernel.us, kernel.heuristic_us);
  EXPECT_EQ(f.plan({{x}}).kernels[0].tuned, kernel.changed);
  expect_softmax(x, f(x), 4096);
}

TEST_F(GpuTuning, ADeterministicFunctionKeepsItsBits) {
  const Tensor x = values(2048, 1000);
  const auto f = compile([](const Tensor& a) { return softmax(a) + sum(a, -1, true); },
                         {.deterministic = true});
  const std::vector<float> before = f(x).to_vector<float>();
  const TuneReport report = tune(f, {{x}}, {.seconds = 1});
  EXPECT_EQ(report.kernels[0].wrong, 0);
  EXPECT_EQ(f(x).to_vector<float>(), before);
}

}  // namespace
}  // namespace sinter
