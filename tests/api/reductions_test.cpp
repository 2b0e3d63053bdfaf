// Reductions against references that gather each row: axes, keepdim, dtypes, layouts, NaN, ties,
// empty reductions, and sizes that are split or iterated in several ways.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <string>

#include "tests/support/reduction_table.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInf = std::numeric_limits<Real>::infinity();

Tensor sum_of(const Tensor& x) { return sum(x); }

// Every reduction of x over the axes in one compiled function, usually one kernel.
void expect_reductions(const Tensor& x, const std::vector<int>& axes, bool keepdim,
                       const CompileOptions& options = {}) {
  std::ostringstream text;
  text << name_of(x.dtype()) << to_string(x.shape()) << " strides " << to_string(x.strides())
       << " over axes";
  for (int axis : axes) text << " " << axis;
  SCOPED_TRACE(text.str());
  auto f = [&](const Tensor& a) {
    std::vector<Tensor> results;
    for (const ReductionRow& row : reduction_table())
      if (row.takes_several_axes || axes.size() == 1) results.push_back(row.call(a, axes, keepdim));
    return results;
  };
  const std::vector<Tensor> results = compile(f, options)(x);
  const Gathered rows = gather(x, axes, keepdim);
  std::size_t next = 0;
  for (const ReductionRow& row : reduction_table())
    if (row.takes_several_axes || axes.size() == 1) {
      EXPECT_TRUE(matches_reduction(results[next++], row, x.dtype(), rows)) << row.name;
    }
}

std::vector<std::vector<int>> axis_sets(int rank) {
  std::vector<std::vector<int>> sets;
  for (int mask = 1; mask < 1 << rank; ++mask) {
    std::vector<int> axes;
    for (int i = 0; i < rank; ++i)
      if (mask >> i & 1) axes.push_back(i);
    sets.push_back(axes);
  }
  return sets;
}

// Values whose products stay in range.
Tensor input(DType dtype, const Shape& shape, unsigned seed = 1) {
  return is_floating(dtype) ? random_tensor(dtype, shape, seed, -1.5L, 1.5L)
                            : random_tensor(dtype, shape, seed, -3, 4);
}

std::string shape_name(const ::testing::TestParamInfo<Shape>& each) {
  std::ostringstream name;
  name << "shape";
  for (std::int64_t size : each.param) name << "_" << size;
  return name.str();
}

class ReductionAxes : public ::testing::TestWithParam<Shape> {};

TEST_P(ReductionAxes, EverySetOfAxes) {
  const Tensor x = input(DType::f32, GetParam());
  bool keepdim = false;
  for (const auto& axes : axis_sets(x.rank())) expect_reductions(x, axes, keepdim = !keepdim);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReductionAxes,
                         ::testing::Values(Shape{1}, Shape{7}, Shape{1000}, Shape{5, 33},
                                           Shape{33, 5}, Shape{1, 9}, Shape{9, 1}, Shape{129, 257},
                                           Shape{3, 5, 17}, Shape{17, 3, 5}, Shape{2, 31, 1},
                                           Shape{2, 3, 5, 7}),
                         shape_name);

TEST(ReductionTable, HasEveryRowOfTheLibrary) {
  std::string names = " ";
  for (const ReductionRow& row : reduction_table()) names += row.name + " ";
#define SINTER_REDUCTION(name, identity, combine, dtype, finish) \
  EXPECT_NE(names.find(" " #name " "), std::string::npos)        \
      << #name << " has no reference in tests/support/reduction_table.cpp";
#include <sinter/reductions.def>
#undef SINTER_REDUCTION
}

TEST(Reductions, OfEveryDType) {
  for (DType dtype : kAllDTypes) {
    if (dtype == DType::f32) continue;
    for (const Shape& shape : {Shape{6, 37}, Shape{3, 5, 17}}) {
      const Tensor x = input(dtype, shape, 3);
      for (int axis = 0; axis < x.rank(); ++axis) expect_reductions(x, {axis}, axis == 0);
    }
    expect_reductions(input(dtype, {3, 5, 17}, 4), {0, 2}, false);
    expect_reductions(input(dtype, {3, 5, 17}, 5), {0, 1, 2}, true);
  }
}

TEST(Reductions, OfScalars) {
  const Tensor x = full({}, 2.5);
  for (const ReductionRow& row : reduction_table()) {
    const bool undefined = row.name == "var" || row.name == "std";
    const Tensor got = row.name.starts_with("arg") ? argmax(x) : row.call(x, {}, false);
    const Real want = undefined                                                        ? kNan
                      : row.name == "any" || row.name == "all"                         ? 1
                      : row.name.starts_with("arg") || row.name.starts_with("var_of_") ? 0
                                                                                       : 2.5L;
    EXPECT_TRUE(matches(got, {}, got.dtype(), {want}, {2})) << row.name;
  }
}

TEST(Reductions, OfViews) {
  for (DType dtype : {DType::f32, DType::f16}) {
    const Tensor base = input(dtype, {23, 37});
    const Tensor cube = input(dtype, {5, 18, 21});
    for (const Tensor& x :
         {transpose(base, 0, 1), slice(base, 1, 3, 37), slice(base, 1, 0, 37, 3),
          slice(slice(base, 0, 1, 23, 2), 1, 1, 37, 5), expand(slice(base, 0, 0, 1), {9, 37}),
          expand(slice(base, 1, 0, 1), {23, 19})})
      for (const auto& axes : axis_sets(2)) expect_reductions(x, axes, false);
    expect_reductions(permute(cube, {2, 0, 1}), {0}, false);
    expect_reductions(permute(cube, {2, 0, 1}), {1}, true);
    expect_reductions(permute(cube, {1, 2, 0}), {0, 2}, false);
  }
}

TEST(Reductions, AgreeWithoutFusion) {
  for (const auto& axes : axis_sets(2))
    expect_reductions(input(DType::f32, {13, 41}), axes, false, {.fuse = false});
  expect_reductions(input(DType::f16, {13, 41}), {1}, false, {.fuse = false});
}

TEST(Reductions, RunEagerly) {
  const Tensor x = input(DType::f32, {19, 45}, 8);
  for (int axis : {0, 1, -1, -2}) {
    const std::vector<int> axes{axis};
    for (const ReductionRow& row : reduction_table())
      EXPECT_TRUE(matches_reduction(row.call(x, axes, axis < 0), row, DType::f32,
                                    gather(x, {axis < 0 ? axis + 2 : axis}, axis < 0)))
          << row.name << " over axis " << axis;
  }
}

TEST(Reductions, KeepNothingOrOnes) {
  const Tensor x = zeros({2, 3, 4});
  EXPECT_EQ(sum(x).shape(), Shape{});
  EXPECT_EQ(sum(x, {}, true).shape(), (Shape{1, 1, 1}));
  EXPECT_EQ(sum(x, 1).shape(), (Shape{2, 4}));
  EXPECT_EQ(sum(x, 1, true).shape(), (Shape{2, 1, 4}));
  EXPECT_EQ(sum(x, {0, 2}).shape(), Shape{3});
  EXPECT_EQ(sum(x, {-1, 0}, true).shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(argmax(x).shape(), Shape{});
  EXPECT_EQ(argmax(x, std::nullopt, true).shape(), (Shape{1, 1, 1}));
  EXPECT_EQ(argmax(x, 1).shape(), (Shape{2, 4}));
  EXPECT_EQ(argmax(x, 1, true).shape(), (Shape{2, 1, 4}));
}

TEST(Reductions, HaveTheDTypesOfTheirRules) {
  for (DType dtype : kAllDTypes) {
    // Known while tracing: nothing is compiled.
    auto f = [&](const Tensor& x) {
      const DType floating = is_floating(dtype) ? dtype : DType::f32;
      const DType counted = is_floating(dtype) ? dtype : DType::i64;
      EXPECT_EQ(sum(x).dtype(), counted);
      EXPECT_EQ(prod(x).dtype(), counted);
      EXPECT_EQ(max(x).dtype(), dtype);
      EXPECT_EQ(min(x).dtype(), dtype);
      EXPECT_EQ(any(x).dtype(), DType::boolean);
      EXPECT_EQ(all(x).dtype(), DType::boolean);
      EXPECT_EQ(argmax(x).dtype(), DType::i64);
      EXPECT_EQ(mean(x).dtype(), floating);
      EXPECT_EQ(var(x).dtype(), floating);
      EXPECT_EQ(logsumexp(x).dtype(), floating);
      return x;
    };
    compile(f)(input(dtype, {3}));
  }
}

// --- special values -----------------------------------------------------------------------------

TEST(ReductionsOfNan, PropagateAndPointToTheFirst) {
  for (DType dtype : kFloatDTypes) {
    // Rows: NaN twice, NaN last, no NaN, only NaN; in both directions.
    const Tensor x = tensor_of(dtype, {4, 5}, {1,    kNan, 3,    kNan, 2,     //
                                               5,    4,    3,    2,    kNan,  //
                                               1,    2,    3,    2,    1,     //
                                               kNan, kNan, kNan, kNan, kNan});
    for (const Tensor& rows : {x, contiguous(transpose(x, 0, 1))}) {
      const int axis = rows.size(0) == 4 ? 1 : 0;
      SCOPED_TRACE(std::string(name_of(dtype)) + " over axis " + std::to_string(axis));
      EXPECT_TRUE(matches(max(rows, axis), {kNan, kNan, 3, kNan}));
      EXPECT_TRUE(matches(min(rows, axis), {kNan, kNan, 1, kNan}));
      EXPECT_TRUE(matches(argmax(rows, axis), {1, 4, 2, 0}));
      EXPECT_TRUE(matches(argmin(rows, axis), {1, 4, 0, 0}));
      EXPECT_TRUE(matches(sum(rows, axis), {kNan, kNan, 9, kNan}));
      EXPECT_TRUE(matches(any(rows, axis), {1, 1, 1, 1}));
    }
  }
}

TEST(ReductionsOfNan, InLongRows) {
  for (std::int64_t n : {1000, 70001, 300000}) {
    std::vector<Real> values = random_values(DType::f32, n);
    values[static_cast<std::size_t>(n / 2)] = kNan;
    values[static_cast<std::size_t>(n - 1)] = kNan;
    const Tensor x = tensor_of(DType::f32, {n}, values);
    EXPECT_TRUE(std::isnan(max(x).item())) << n;
    EXPECT_TRUE(std::isnan(min(x).item())) << n;
    EXPECT_EQ(argmax(x).item(), static_cast<double>(n / 2));
    EXPECT_EQ(argmin(x).item(), static_cast<double>(n / 2));
  }
}

TEST(ReductionsOfInfinities, AreInfinitiesOrNan) {
  const Tensor x = tensor_of(DType::f32, {3, 2}, {kInf, 1, -kInf, -kInf, kInf, -kInf});
  EXPECT_TRUE(matches(sum(x, 1), {kInf, -kInf, kNan}));
  EXPECT_TRUE(matches(max(x, 1), {kInf, -kInf, kInf}));
  EXPECT_TRUE(matches(min(x, 1), {1, -kInf, -kInf}));
  EXPECT_TRUE(matches(argmax(x, 1), {0, 0, 0}));
  EXPECT_TRUE(matches(logsumexp(x, 1), {kInf, -kInf, kInf}));
}

TEST(ReductionsOfTies, PointToTheFirst) {
  for (DType dtype : kAllDTypes) {
    const Tensor x = tensor_of(dtype, {2, 6},
                               {0, 1, 1, 0, 1, 0,  //
                                1, 0, 0, 1, 0, 1});
    EXPECT_TRUE(matches(argmax(x, 1), {1, 0}));
    EXPECT_TRUE(matches(argmin(x, 1), {0, 1}));
    EXPECT_TRUE(matches(argmax(x, 0), {1, 0, 0, 1, 0, 1}));
    EXPECT_TRUE(matches(argmin(x, 0), {0, 1, 1, 0, 1, 0}));
    EXPECT_TRUE(matches(argmax(x), {1}));
  }
  for (std::int64_t n : {17, 1000, 70001, 300000, 1 << 20}) {
    const Tensor same = full({n}, 3);
    EXPECT_EQ(argmax(same).item(), 0) << n;
    EXPECT_EQ(argmin(same).item(), 0) << n;
    const Tensor two = cast(arange(0, n) % (n / 2), DType::f32);  // the maximum occurs twice
    EXPECT_EQ(argmax(two).item(), static_cast<double>(n / 2 - 1)) << n;
  }
}

TEST(ReductionsOfNothing, GiveTheIdentity) {
  for (DType dtype : kAllDTypes) {
    const Tensor x = zeros({3, 0}, dtype);
    const DType counted = is_floating(dtype) ? dtype : DType::i64;
    EXPECT_TRUE(matches(sum(x, 1), {3}, counted, {0, 0, 0}));
    EXPECT_TRUE(matches(prod(x, 1), {3}, counted, {1, 1, 1}));
    EXPECT_TRUE(matches(any(x, 1), {3}, DType::boolean, {0, 0, 0}));
    EXPECT_TRUE(matches(all(x, 1), {3}, DType::boolean, {1, 1, 1}));
    EXPECT_TRUE(matches(mean(x, 1), {kNan, kNan, kNan}));
    EXPECT_TRUE(matches(logsumexp(x, 1), {-kInf, -kInf, -kInf}));
    EXPECT_TRUE(matches(sum(x), {}, counted, {0}));
    EXPECT_EQ(sum(x, 0).shape(), Shape{0});
    EXPECT_EQ(max(x, 0).shape(), Shape{0});
    EXPECT_EQ(argmax(x, 0).shape(), Shape{0});
    for (auto reduce :
         {+[](const Tensor& a) { return max(a, 1); }, +[](const Tensor& a) { return min(a); },
          +[](const Tensor& a) { return argmax(a, 1); },
          +[](const Tensor& a) { return argmin(a); }})
      EXPECT_THROW(reduce(x), UserError) << name_of(dtype);
  }
}

TEST(Variance, OfTooFewIsNan) {
  const Tensor x = full({4, 1}, 3);
  EXPECT_TRUE(matches(var(x, 1), {kNan, kNan, kNan, kNan}));
  EXPECT_TRUE(matches(var(x, 1, false, 0), {0, 0, 0, 0}));
  EXPECT_TRUE(matches(std(x, 0), {0}));
}

TEST(Variance, OfLargeNumbersDoesNotCancel) {
  std::vector<Real> values;
  for (int i = 0; i < 1000; ++i) values.push_back(100000 + i % 2);
  const Tensor x = tensor_of(DType::f32, {1000}, values);
  EXPECT_NEAR(var(x, {}, false, 0).item(), 0.25, 1e-4);
}

// --- sizes --------------------------------------------------------------------------------------

class LongReductions : public ::testing::TestWithParam<Shape> {};

// Long enough to be split over several workers, and not divisible by anything.
TEST_P(LongReductions, EverySetOfAxes) {
  const Tensor x = random_tensor(DType::f32, GetParam(), 5, 0.5L, 1.5L);
  for (const auto& axes : axis_sets(x.rank())) expect_reductions(x, axes, false);
}

INSTANTIATE_TEST_SUITE_P(Shapes, LongReductions,
                         ::testing::Values(Shape{(1 << 20) + 7}, Shape{1, 300000}, Shape{3, 70001},
                                           Shape{70001, 3}, Shape{257, 1031}, Shape{3, 211, 401}),
                         shape_name);

TEST(LongSums, OfF16AccumulateInF32) {
  for (DType dtype : {DType::f16, DType::bf16}) {
    const std::int64_t n = 100000;
    const Tensor x = random_tensor(dtype, {n}, 6, 0, 0.5L);  // sum of about 25000
    Real want = 0;
    for (Real value : values_of(x)) want += value;
    const Tolerance tolerance{0.51, 1e-6L * want};
    EXPECT_TRUE(matches(sum(x), {want}, tolerance)) << name_of(dtype);
    EXPECT_TRUE(matches(compile(sum_of)(x), {want}, tolerance)) << name_of(dtype);
    EXPECT_TRUE(matches(sum(reshape(x, {10, n / 10}), {0, 1}), {want}, tolerance));
  }
}

TEST(LongSums, OfF16MayPassItsRangeOnTheWayToAMean) {
  const Tensor x = random_tensor(DType::f16, {3, 100000}, 7, 2, 4);  // the sum exceeds 65504
  const std::vector<Real> rows = values_of(x);
  std::vector<Real> want(3, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) want[i / 100000] += rows[i] / 100000;
  auto f = [](const Tensor& a) { return std::tuple(mean(a, 1), var(a, 1)); };
  const auto [means, variances] = compile(f)(x);
  EXPECT_TRUE(matches(means, want, {0.6}));
  EXPECT_TRUE(matches(variances, std::vector<Real>(3, 1 / 3.L), {0, 0.01L}));
  EXPECT_TRUE(matches(mean(x, 1), want, {0.6}));
  EXPECT_TRUE(matches(var(x, 1), std::vector<Real>(3, 1 / 3.L), {0, 0.01L}));
}

TEST(LongSums, OfIntegersAreExact) {
  const Tensor x = full({3, 100003}, 2000000000, DType::i32);
  EXPECT_TRUE(matches(sum(x, 1), {3}, DType::i64, std::vector<Real>(3, 2000000000.L * 100003)));
  EXPECT_TRUE(matches(mean(x, 1), std::vector<Real>(3, 2e9L), {32}));
}

}  // namespace
}  // namespace sinter::testing
