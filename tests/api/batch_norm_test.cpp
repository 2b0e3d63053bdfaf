// Batch norm: statistics over images and pixels, then every element normalised. A GPU keeps the
// elements of a channel on chip, although they do not follow each other in memory.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/support/gpu.h"

namespace sinter {
namespace {

constexpr double kEpsilon = 1e-5;

std::vector<float> random_values(std::int64_t count) {
  static std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal(0.5f, 2.0f);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& each : values) each = normal(random);
  return values;
}

// `values` are (images, channels, pixels).
std::vector<double> reference(const Tensor& x, const std::vector<float>& values) {
  const auto images = static_cast<std::size_t>(x.shape()[0]);
  const auto channels = static_cast<std::size_t>(x.shape()[1]);
  const std::size_t pixels = values.size() / images / channels;
  std::vector<double> result(values.size());
  for (std::size_t c = 0; c < channels; ++c) {
    const auto for_each = [&](const auto& visit) {
      for (std::size_t n = 0; n < images; ++n)
        for (std::size_t p = 0; p < pixels; ++p) visit((n * channels + c) * pixels + p);
    };
    const auto count = static_cast<double>(images * pixels);
    double sum = 0;
    double squares = 0;
    for_each([&](std::size_t i) { sum += values[i]; });
    for_each(
        [&](std::size_t i) { squares += (values[i] - sum / count) * (values[i] - sum / count); });
    const double scale = 1 / std::sqrt(squares / count + kEpsilon);
    for_each([&](std::size_t i) { result[i] = (values[i] - sum / count) * scale; });
  }
  return result;
}

Tensor normalized(const Tensor& x) {
  const Tensor centred = x - mean(x, {0, 2, 3}, true);
  return centred * rsqrt(mean(square(centred), {0, 2, 3}, true) + kEpsilon);
}

class BatchNorm : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SINTER_NEEDS_DEVICE(GetParam()); }
  bool is_slow() const { return std::string(GetParam()) == "simt"; }

  void expect_one_kernel(const Shape& shape, DType dtype, double tolerance) const {
    SCOPED_TRACE(to_string(shape) + " " + std::string(name_of(dtype)));
    const Tensor x = cast(from_vector<float>(random_values(shape.numel()), shape), dtype);
    const std::vector<float> values = cast(x, DType::f32).to_vector<float>();
    const std::vector<double> expected = reference(x, values);
    const auto norm = compile(normalized);
    const Tensor there = x.to(GetParam());
    const std::vector<float> y = cast(norm(there), DType::f32).to_vector<float>();
    EXPECT_EQ(norm.info({{there}}).kernels, 1) << norm.explain();
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << i;
  }
};

TEST_P(BatchNorm, IsOneKernel) {
  for (const Shape& shape : {Shape{4, 3, 8, 8}, Shape{3, 5, 7, 7}, Shape{2, 3, 5, 6},
                             Shape{5, 2, 1, 1}, Shape{1, 4, 9, 11}, Shape{8, 2, 16, 12}})
    expect_one_kernel(shape, DType::f32, 1e-5);
}

TEST_P(BatchNorm, OfSixteenBits) {
  for (const Shape& shape : {Shape{4, 3, 8, 8}, Shape{3, 5, 7, 7}, Shape{6, 2, 4, 9}}) {
    expect_one_kernel(shape, DType::f16, 1e-3);
    expect_one_kernel(shape, DType::bf16, 8e-3);
  }
}

TEST_P(BatchNorm, OfManyPixels) {
  if (is_slow()) GTEST_SKIP() << "too slow on fibers";
  expect_one_kernel({32, 5, 28, 28}, DType::f32, 2e-5);
  expect_one_kernel({33, 7, 29, 31}, DType::f32, 2e-5);
  expect_one_kernel({16, 3, 56, 54}, DType::bf16, 8e-3);
}

INSTANTIATE_TEST_SUITE_P(Devices, BatchNorm, testing::Values("cpu", "simt", "cuda"),
                         [](const auto& each) {
                           const std::string name = each.param;
                           return name == "simt" ? "Simt" : name == "cuda" ? "Gpu" : "Cpu";
                         });

}  // namespace
}  // namespace sinter
