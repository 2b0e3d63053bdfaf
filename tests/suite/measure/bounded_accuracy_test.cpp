// Judging results by each element's own bound.
#include "src/suite/measure/bounded_accuracy.h"

#include <gtest/gtest.h>
#include <sinter/device.h>

#include <cmath>
#include <limits>

namespace sinter::suite {
namespace {

using bounded::Bounded;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Sample all_of(std::int64_t count) {
  Sample sample;
  sample.outputs.emplace_back(Shape{count}, Shape{count});
  return sample;
}

Checked check(const std::vector<float>& results, const std::vector<Bounded>& expected) {
  const auto count = std::ssize(results);
  const std::vector<Tensor> outputs{from_vector(results, {count})};
  const std::vector<std::vector<Bounded>> all{expected};
  return check_bounded(outputs, all_of(count), all);
}

bool is_wrong(const Checked& checked) { return !(*checked.max_rel_err <= *checked.tolerance); }

TEST(BoundedAccuracy, TheToleranceIsTheWidestBound) {
  const Checked checked = check({3.0f, 4.5f}, {Bounded::real(3, 0.5), Bounded::real(4, 1)});
  EXPECT_EQ(checked.checked_elements, 2);
  EXPECT_DOUBLE_EQ(*checked.max_abs_err, 0.5);
  EXPECT_DOUBLE_EQ(*checked.max_rel_err, 0.5 / 4);
  EXPECT_DOUBLE_EQ(*checked.tolerance, 1.0 / 4);
  EXPECT_FALSE(is_wrong(checked));
}

TEST(BoundedAccuracy, AnElementIsNotExcusedByTheBoundOfAnother) {
  const Checked checked = check({3.1f, 4.0f}, {Bounded::real(3, 0.001), Bounded::real(4, 1)});
  EXPECT_TRUE(is_wrong(checked));
  EXPECT_LT(*checked.tolerance, 0.001);
}

TEST(BoundedAccuracy, NanIsWrongUnlessItIsExpected) {
  EXPECT_TRUE(is_wrong(check({kNan, 4}, {Bounded::real(3, 0.5), Bounded::real(4, 1)})));
  EXPECT_TRUE(is_wrong(check({3, 4}, {Bounded::real(std::nan("")), Bounded::real(4, 1)})));
  EXPECT_FALSE(is_wrong(check({kNan, 4}, {Bounded::real(std::nan("")), Bounded::real(4, 1)})));
}

TEST(BoundedAccuracy, ElementsWithoutABoundAreNotCompared) {
  const Checked some = check({100, 4}, {Bounded::unknown(), Bounded::real(4, 1)});
  EXPECT_EQ(some.checked_elements, 1);
  EXPECT_FALSE(is_wrong(some));
  const Checked none = check({100}, {Bounded::unknown()});
  EXPECT_EQ(none.checked_elements, 0);
  for (const char* field : {"max_abs_err", "max_rel_err", "tolerance"})
    EXPECT_TRUE(none.reasons.contains(field)) << field;
  EXPECT_FALSE(none.tolerance);
}

TEST(BoundedAccuracy, IntegersMustBeEqual) {
  const std::vector<Tensor> outputs{from_vector(std::vector<std::int32_t>{7, -2}, {2})};
  std::vector<std::vector<Bounded>> expected{{Bounded::whole(7), Bounded::whole(-2)}};
  EXPECT_FALSE(is_wrong(check_bounded(outputs, all_of(2), expected)));
  EXPECT_EQ(check_bounded(outputs, all_of(2), expected).tolerance, 0);
  expected[0][1] = Bounded::whole(-1);
  EXPECT_TRUE(is_wrong(check_bounded(outputs, all_of(2), expected)));
}

TEST(BoundedAccuracy, ReadsResultsInAnyOrderOfMemory) {
  const Tensor stored = from_vector(std::vector<float>{1, 4, 2, 5, 3, 6}, {3, 2});
  const std::vector<Tensor> outputs{transpose(stored, 0, 1)};
  Sample sample;
  sample.outputs.emplace_back(Shape{2, 3}, Shape{2, 3});
  std::vector<std::vector<Bounded>> expected(1);
  for (int i = 1; i <= 6; ++i) expected[0].push_back(Bounded::real(i));
  EXPECT_FALSE(is_wrong(check_bounded(outputs, sample, expected)));
}

}  // namespace
}  // namespace sinter::suite
