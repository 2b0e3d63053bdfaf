// Group norm in two spellings: the statistics over a reshaped tensor and the weights over channels,
// or everything over split channels. Both give the same values, and are one kernel.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <random>

#include "tests/support/gpu.h"

namespace sinter {
namespace {

constexpr std::int64_t kBatch = 3, kChannels = 12, kHeight = 5, kWidth = 7, kGroups = 4;
constexpr double kEpsilon = 1e-5;

Tensor normalized(const Tensor& x, const std::vector<int>& axes) {
  const Tensor centred = x - mean(x, axes, true);
  return centred * rsqrt(mean(square(centred), axes, true) + kEpsilon);
}

Tensor reshaped_back(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor rows = reshape(x, {kBatch, kGroups, kChannels / kGroups * kHeight * kWidth});
  const Tensor y = reshape(normalized(rows, {2}), {kBatch, kChannels, kHeight, kWidth});
  return y * reshape(weight, {kChannels, 1, 1}) + reshape(bias, {kChannels, 1, 1});
}

Tensor over_split_channels(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Shape split{kGroups, kChannels / kGroups, 1};
  const Tensor rows = reshape(x, {kBatch, kGroups, kChannels / kGroups, kHeight * kWidth});
  const Tensor y = normalized(rows, {2, 3}) * reshape(weight, split) + reshape(bias, split);
  return reshape(y, {kBatch, kChannels, kHeight, kWidth});
}

std::vector<float> random_values(std::int64_t count) {
  static std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& each : values) each = normal(random);
  return values;
}

std::vector<double> reference(const std::vector<float>& x, const std::vector<float>& weight,
                              const std::vector<float>& bias) {
  const std::int64_t pixels = kHeight * kWidth;
  const std::int64_t row = kChannels / kGroups * pixels;
  std::vector<double> y(x.size());
  for (std::size_t begin = 0; begin < x.size(); begin += static_cast<std::size_t>(row)) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(row); ++i) sum += x[i];
    const double average = sum / static_cast<double>(row);
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(row); ++i)
      squares += (x[i] - average) * (x[i] - average);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(row) + kEpsilon);
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(row); ++i) {
      const std::size_t channel = i / static_cast<std::size_t>(pixels) % kChannels;
      y[i] = (x[i] - average) * scale * weight[channel] + bias[channel];
    }
  }
  return y;
}

class GroupNorm : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SINTER_NEEDS_DEVICE(GetParam()); }
};

TEST_P(GroupNorm, IsTheSameInEitherSpelling) {
  const std::string device = GetParam();
  const std::vector<float> values = random_values(kBatch * kChannels * kHeight * kWidth);
  const std::vector<float> weights = random_values(kChannels);
  const std::vector<float> biases = random_values(kChannels);
  const Tensor x = from_vector(values, {kBatch, kChannels, kHeight, kWidth}).to(device);
  const Tensor weight = from_vector(weights, {kChannels}).to(device);
  const Tensor bias = from_vector(biases, {kChannels}).to(device);
  const std::vector<double> expected = reference(values, weights, biases);
  for (const auto& spelling : {reshaped_back, over_split_channels}) {
    const auto f = compile(spelling);
    const std::vector<float> y = f(x, weight, bias).to("cpu").to_vector<float>();
    const std::array inputs{x, weight, bias};
    EXPECT_EQ(f.info(inputs).kernels, 1) << f.explain();
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-5) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, GroupNorm, testing::Values("cpu", "simt", "cuda"),
                         [](const auto& each) {
                           const std::string name = each.param;
                           return name == "simt" ? "Simt" : name == "cuda" ? "Gpu" : "Cpu";
                         });

}  // namespace
}  // namespace sinter
