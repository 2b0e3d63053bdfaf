// Reductions with few results, on every device: long ones are cut into parts that may overlap,
// short columns are turned in shared memory, totals follow the rows that other reductions walk.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/support/gpu.h"

namespace sinter {
namespace {

std::vector<float> random_values(std::int64_t count) {
  static std::mt19937 random(std::random_device{}());
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& each : values) each = uniform(random);
  return values;
}

// Sums and maxima over the middle axis of (outer, length, inner), in double.
struct Expected {
  Expected(const std::vector<float>& x, const Shape& shape)
      : sums(static_cast<std::size_t>(shape[0] * shape[2]), 0), maxima(sums.size(), -2) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto inner = static_cast<std::size_t>(shape[2]);
      const auto row = i / inner / static_cast<std::size_t>(shape[1]);
      const std::size_t result = row * inner + i % inner;
      sums[result] += x[i];
      maxima[result] = std::max(maxima[result], static_cast<double>(x[i]));
    }
  }
  std::vector<double> sums;
  std::vector<double> maxima;
};

class FewResults : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SINTER_NEEDS_DEVICE(GetParam()); }
  bool is_slow() const { return std::string(GetParam()) == "simt"; }
  std::string device() const { return GetParam(); }
};

TEST_P(FewResults, OverAnyAxis) {
  std::vector<Shape> shapes{{1, 300, 17}, {1, 7, 12},   {2, 65, 500}, {3, 257, 8},
                            {1, 3001, 5}, {1, 999, 64}, {5, 33, 1},   {1, 262147, 1}};
  if (!is_slow())
    for (const Shape& shape : {Shape{1, 100003, 17}, Shape{1, 70001, 3}, Shape{1, 20011, 300},
                               Shape{2, 5003, 257}, Shape{1, 1000003, 1}, Shape{3, 400009, 1}})
      shapes.push_back(shape);
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(to_string(shape));
    const std::vector<float> values = random_values(shape.numel());
    const Tensor x = from_vector<float>(values, shape).to(device());
    const Expected expected(values, shape);
    const auto both = compile([](const Tensor& t) { return std::tuple(sum(t, {1}), max(t, {1})); });
    const auto [sums, maxima] = both(x);
    const std::vector<float> actual = sums.to_vector<float>();
    const std::vector<float> top = maxima.to_vector<float>();
    const double bound = 1e-6 * std::sqrt(static_cast<double>(shape[1])) + 1e-6;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      ASSERT_NEAR(actual[i], expected.sums[i], bound * std::sqrt(static_cast<double>(shape[1])))
          << i;
      ASSERT_EQ(top[i], expected.maxima[i]) << i;
    }
    const std::vector<float> eager = sum(x, {1}).to_vector<float>();
    for (std::size_t i = 0; i < eager.size(); ++i)
      ASSERT_NEAR(eager[i], expected.sums[i], bound * std::sqrt(static_cast<double>(shape[1])))
          << i;
  }
}

// All elements are what masked-off columns count as.
TEST_P(FewResults, TheFirstOfRowsOfInfinitiesIsTheGreatest) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::int64_t length : {3, 33, 50, 67, 101, 1031, 9001}) {
    const Tensor x = full({5, length}, infinity).to(device());
    EXPECT_EQ(compile([](const Tensor& t) { return argmin(t, {1}); })(x).to_vector<std::int64_t>(),
              std::vector<std::int64_t>(5, 0))
        << length;
    EXPECT_EQ(compile([](const Tensor& t) { return argmax(-t, {1}); })(x).to_vector<std::int64_t>(),
              std::vector<std::int64_t>(5, 0))
        << length;
  }
}

// The mean cross entropy of a batch, with the class of each row picked by comparison.
TEST_P(FewResults, OfALossOverRows) {
  const std::int64_t rows = is_slow() ? 5 : 300;
  const std::int64_t classes = 5003;
  const std::vector<float> values = random_values(rows * classes);
  std::vector<std::int64_t> targets;
  for (std::int64_t row = 0; row < rows; ++row) targets.push_back(row * 7919 % classes);
  double expected = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    double total = 0;
    for (std::int64_t i = 0; i < classes; ++i)
      total += std::exp(static_cast<double>(values[static_cast<std::size_t>(row * classes + i)]));
    const std::int64_t target = targets[static_cast<std::size_t>(row)];
    expected += std::log(total) - values[static_cast<std::size_t>(row * classes + target)];
  }
  expected /= static_cast<double>(rows);
  const auto loss = compile([](const Tensor& x, const Tensor& target) {
    const Tensor below = x - max(x, {1}, true);
    const Tensor log_p = below - log(sum(exp(below), {1}, true));
    const Tensor is_target =
        arange(0, x.shape()[1], 1, DType::i64, x.device()) == unsqueeze(target, 1);
    return -sum(where(is_target, log_p, 0.0)) / static_cast<double>(x.shape()[0]);
  });
  const Tensor x = from_vector<float>(values, {rows, classes}).to(device());
  const Tensor target = from_vector<std::int64_t>(targets, {rows}).to(device());
  EXPECT_NEAR(loss(x, target).item<float>(), expected, 1e-5);
  EXPECT_LE(loss.info({{x, target}}).kernels, 2) << loss.explain();
}

INSTANTIATE_TEST_SUITE_P(Devices, FewResults, testing::Values("cpu", "simt", "cuda"),
                         [](const auto& each) {
                           const std::string name = each.param;
                           return name == "simt" ? "Simt" : name == "cuda" ? "Gpu" : "Cpu";
                         });

}  // namespace
}  // namespace sinter
