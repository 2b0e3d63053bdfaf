// Group norm in two spellings: the statistics over a reshaped tensor and the weights over channels,
// or everything over split channels. Both give the same values, and are one kernel.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/support/gpu.h"

namespace sinter {
namespace {

constexpr double kEpsilon = 1e-5;

struct Sizes {
  std::int64_t batch = 1;
  std::int64_t groups = 1;
  std::int64_t members = 1;  // channels of a group
  std::int64_t height = 1;
  std::int64_t width = 1;

  std::int64_t channels() const { return groups * members; }
  std::int64_t pixels() const { return height * width; }
  Shape shape() const { return {batch, channels(), height, width}; }
};

Tensor normalized(const Tensor& x, const std::vector<int>& axes) {
  const Tensor centred = x - mean(x, axes, true);
  return centred * rsqrt(mean(square(centred), axes, true) + kEpsilon);
}

Tensor reshaped_back(const Sizes& sizes, const Tensor& x, const Tensor& weight,
                     const Tensor& bias) {
  const Tensor rows = reshape(x, {sizes.batch, sizes.groups, sizes.members * sizes.pixels()});
  const Tensor y = reshape(normalized(rows, {2}), sizes.shape());
  const Shape per_channel{sizes.channels(), 1, 1};
  return y * reshape(weight, per_channel) + reshape(bias, per_channel);
}

Tensor over_split_channels(const Sizes& sizes, const Tensor& x, const Tensor& weight,
                           const Tensor& bias) {
  const Shape split{sizes.groups, sizes.members, 1};
  const Tensor rows = reshape(x, {sizes.batch, sizes.groups, sizes.members, sizes.pixels()});
  const Tensor y = normalized(rows, {2, 3}) * reshape(weight, split) + reshape(bias, split);
  return reshape(y, sizes.shape());
}

std::vector<float> random_values(std::int64_t count) {
  static std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& each : values) each = normal(random);
  return values;
}

std::vector<double> reference(const Sizes& sizes, const std::vector<float>& x,
                              const std::vector<float>& weight, const std::vector<float>& bias) {
  const auto row = static_cast<std::size_t>(sizes.members * sizes.pixels());
  std::vector<double> y(x.size());
  for (std::size_t begin = 0; begin < x.size(); begin += row) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = begin; i < begin + row; ++i) sum += x[i];
    const double average = sum / static_cast<double>(row);
    for (std::size_t i = begin; i < begin + row; ++i)
      squares += (x[i] - average) * (x[i] - average);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(row) + kEpsilon);
    for (std::size_t i = begin; i < begin + row; ++i) {
      const auto pixel = static_cast<std::int64_t>(i);
      const auto channel = static_cast<std::size_t>(pixel / sizes.pixels() % sizes.channels());
      y[i] = (x[i] - average) * scale * weight[channel] + bias[channel];
    }
  }
  return y;
}

class GroupNorm : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SINTER_NEEDS_DEVICE(GetParam()); }

  static void expect_one_kernel_in_either_spelling(const Sizes& sizes, DType dtype,
                                                   double tolerance) {
    const Tensor numbers = from_vector(random_values(sizes.shape().numel()), sizes.shape());
    const Tensor x = cast(numbers, dtype);  // what is stored is the exact input
    const std::vector<float> weights = random_values(sizes.channels());
    const std::vector<float> biases = random_values(sizes.channels());
    const std::vector<double> expected =
        reference(sizes, cast(x, DType::f32).to_vector<float>(), weights, biases);
    const std::array inputs{x.to(GetParam()),
                            from_vector(weights, {sizes.channels()}).to(GetParam()),
                            from_vector(biases, {sizes.channels()}).to(GetParam())};
    for (const auto& spelling : {reshaped_back, over_split_channels}) {
      const auto f = compile([&](const Tensor& a, const Tensor& weight, const Tensor& bias) {
        return cast(spelling(sizes, a, weight, bias), DType::f32);
      });
      const std::vector<float> y = f(inputs[0], inputs[1], inputs[2]).to("cpu").to_vector<float>();
      EXPECT_EQ(f.info(inputs).kernels, 1) << f.explain();
      for (std::size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << i;
    }
  }
};

TEST_P(GroupNorm, IsOneKernelInEitherSpelling) {
  expect_one_kernel_in_either_spelling({3, 4, 3, 5, 7}, DType::f32, 1e-5);
  expect_one_kernel_in_either_spelling({2, 2, 5, 3, 1}, DType::f32, 1e-5);
  expect_one_kernel_in_either_spelling({1, 3, 16, 8, 8}, DType::f32, 1e-5);
  expect_one_kernel_in_either_spelling({2, 1, 7, 31, 33}, DType::f32, 1e-5);
}

TEST_P(GroupNorm, OfSixteenBitsIsOneKernelToo) {
  for (const auto& [dtype, tolerance] : {std::pair{DType::f16, 1e-3}, {DType::bf16, 8e-3}}) {
    expect_one_kernel_in_either_spelling({2, 3, 4, 5, 7}, dtype, tolerance);
    expect_one_kernel_in_either_spelling({1, 2, 8, 16, 8}, dtype, tolerance);
  }
}

TEST_P(GroupNorm, OfLongRowsIsOneKernelToo) {
  if (std::string(GetParam()) == "simt") GTEST_SKIP() << "too slow on fibers";
  expect_one_kernel_in_either_spelling({2, 2, 9, 60, 61}, DType::f32, 2e-5);
  expect_one_kernel_in_either_spelling({1, 2, 13, 64, 63}, DType::bf16, 8e-3);
}

INSTANTIATE_TEST_SUITE_P(Devices, GroupNorm, testing::Values("cpu", "simt", "cuda"),
                         [](const auto& each) {
                           const std::string name = each.param;
                           return name == "simt" ? "Simt" : name == "cuda" ? "Gpu" : "Cpu";
                         });

}  // namespace
}  // namespace sinter
