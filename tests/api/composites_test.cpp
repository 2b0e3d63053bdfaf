// softmax, log_softmax, layer_norm and rms_norm against long double, over axes, shapes and dtypes.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/reduction_table.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

using Row = std::vector<Real>;

// Applies `function` to each row over the axes and stores the results at the elements' positions.
std::vector<Real> by_rows(const Tensor& x, const std::vector<int>& axes,
                          const std::function<Row(const Row&)>& function) {
  // Gathering indices gives the source position of each element of a row.
  Tensor positions = counting_tensor(x.shape(), DType::i64);
  const Gathered where = gather(positions, axes, false);
  const Gathered rows = gather(x, axes, false);
  std::vector<Real> result(static_cast<std::size_t>(x.numel()));
  for (std::size_t r = 0; r < rows.rows.size(); ++r) {
    const Row row = function(rows.rows[r]);
    for (std::size_t i = 0; i < row.size(); ++i)
      result[static_cast<std::size_t>(where.rows[r][i])] = row[i];
  }
  return result;
}

Row softmax_row(const Row& row) {
  Real top = -std::numeric_limits<Real>::infinity();
  for (Real x : row) top = std::max(top, x);
  Real total = 0;
  for (Real x : row) total += std::exp(x - top);
  Row result;
  for (Real x : row) result.push_back(std::exp(x - top) / total);
  return result;
}

Row log_softmax_row(const Row& row) {
  Row result = softmax_row(row);
  for (Real& x : result) x = std::log(x);
  return result;
}

Row normalized(const Row& row, bool centre, Real eps) {
  Real middle = 0;
  if (centre)
    for (Real x : row) middle += x / static_cast<Real>(row.size());
  Real squares = 0;
  for (Real x : row) squares += (x - middle) * (x - middle) / static_cast<Real>(row.size());
  Row result;
  for (Real x : row) result.push_back((x - middle) / std::sqrt(squares + eps));
  return result;
}

// f32 and f64: a few roundings of numbers up to `size`. 16 bits: the same, rounded.
Tolerance within(DType dtype, Real size) {
  const DType computed = compute_dtype(dtype);
  const Real absolute = 16 * epsilon_of(computed) * size;
  if (dtype == computed) return {8, absolute};
  return {0.51, ulp_of(dtype, size) * 0.01L};
}

const Shape kShapes[] = {{7}, {1, 1}, {5, 33}, {33, 5}, {3, 17, 9}, {2, 3, 5, 16}, {4, 1000}};

void expect_softmaxes(const Tensor& x, int axis) {
  SCOPED_TRACE(std::string(name_of(x.dtype())) + to_string(x.shape()) + " axis " +
               std::to_string(axis));
  auto f = [&](const Tensor& a) {
    return std::pair(sinter::softmax(a, axis), sinter::log_softmax(a, axis));
  };
  const auto [soft, logs] = compile(f)(x);
  const int positive = axis < 0 ? axis + x.rank() : axis;
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : DType::f32;
  EXPECT_TRUE(matches(soft, x.shape(), dtype, by_rows(x, {positive}, softmax_row),
                      {dtype == compute_dtype(dtype) ? 16. : 0.51}));
  EXPECT_TRUE(
      matches(logs, x.shape(), dtype, by_rows(x, {positive}, log_softmax_row), within(dtype, 16)));
}

TEST(Softmax, OverEveryAxis) {
  for (const Shape& shape : kShapes)
    for (int axis = 0; axis < shape.rank(); ++axis)
      expect_softmaxes(random_tensor(DType::f32, shape), axis - (axis % 2 ? shape.rank() : 0));
}

TEST(Softmax, OfEveryDType) {
  for (DType dtype : kAllDTypes)
    for (int axis : {0, 1}) expect_softmaxes(random_tensor(dtype, {6, 37}), axis);
}

TEST(Softmax, OfViews) {
  const Tensor x = random_tensor(DType::f32, {21, 34});
  for (int axis : {0, 1}) {
    expect_softmaxes(transpose(x, 0, 1), axis);
    expect_softmaxes(slice(x, 1, 1, 34, 3), axis);
  }
}

TEST(Softmax, OfLongRows) {
  expect_softmaxes(random_tensor(DType::f32, {1, 300000}), 1);
  expect_softmaxes(random_tensor(DType::f16, {2, 70001}), 1);
  expect_softmaxes(random_tensor(DType::f32, {70001, 2}), 0);
}

TEST(Softmax, OfLargeNumbersDoesNotOverflow) {
  const Tensor x = tensor_of(DType::f32, {3}, {1e30L, 1e30L, -1e30L});
  EXPECT_TRUE(matches(softmax(x), {0.5L, 0.5L, 0}));
  const Tensor y = tensor_of(DType::f16, {2}, {60000, -60000});
  EXPECT_TRUE(matches(softmax(y), {1, 0}));
}

TEST(Softmax, MaskedWithInfinities) {
  const Real inf = std::numeric_limits<Real>::infinity();
  const Tensor x = tensor_of(DType::f32, {2, 3}, {-inf, 1, 1, 2, -inf, -inf});
  EXPECT_TRUE(matches(softmax(x), {0, 0.5L, 0.5L, 1, 0, 0}));
  EXPECT_TRUE(matches(log_softmax(x), {-inf, std::log(0.5L), std::log(0.5L), 0, -inf, -inf}, {2}));
}

TEST(Softmax, OfNothing) {
  EXPECT_EQ(softmax(zeros({3, 0})).shape(), (Shape{3, 0}));
  EXPECT_EQ(log_softmax(zeros({0, 3})).shape(), (Shape{0, 3}));
}

TEST(Softmax, RunsEagerlyAndWithoutFusion) {
  const Tensor x = random_tensor(DType::f16, {6, 37});
  const std::vector<Real> want = by_rows(x, {1}, softmax_row);
  EXPECT_TRUE(matches(softmax(x), want, {0.51}));
  const auto unfused = compile([](const Tensor& a) { return softmax(a); }, {.fuse = false});
  EXPECT_TRUE(matches(unfused(x), want, {0.51}));
}

// --- norms --------------------------------------------------------------------------------------

struct Norm {
  const char* name;
  bool centre;
  bool with_weight, with_bias;
};
constexpr Norm kNorms[] = {{"layer_norm", true, false, false},
                           {"layer_norm with weight", true, true, false},
                           {"layer_norm with weight and bias", true, true, true},
                           {"layer_norm with bias", true, false, true},
                           {"rms_norm", false, false, false},
                           {"rms_norm with weight", false, true, false}};

// Over the last `count` axes.
void expect_norms(const Tensor& x, int count) {
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : DType::f32;
  Shape affine;
  std::vector<int> axes;
  for (int i = x.rank() - count; i < x.rank(); ++i) {
    affine.push_back(x.size(i));
    axes.push_back(i);
  }
  const Tensor weight = random_tensor(dtype, affine, 2, 0.5L, 2);
  const Tensor bias = random_tensor(dtype, affine, 3);
  auto f = [&](const Tensor& a, const Tensor& w, const Tensor& b) {
    std::vector<Tensor> results;
    for (const Norm& norm : kNorms)
      if (norm.with_weight || norm.with_bias || count == 1) {
        const Tensor scale = norm.with_weight ? w : Tensor();
        const Tensor shift = norm.with_bias ? b : Tensor();
        results.push_back(norm.centre ? layer_norm(a, scale, shift, 1e-5) : rms_norm(a, scale));
      }
    return results;
  };
  const std::vector<Tensor> results = compile(f)(x, weight, bias);
  const std::vector<Real> scales = broadcast_values(weight, x.shape());
  const std::vector<Real> shifts = broadcast_values(bias, x.shape());
  std::size_t next = 0;
  for (const Norm& norm : kNorms) {
    if (!norm.with_weight && !norm.with_bias && count != 1) continue;
    std::vector<Real> want = by_rows(x, axes, [&](const Row& row) {
      return normalized(row, norm.centre, norm.centre ? 1e-5L : 1e-6L);
    });
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (norm.with_weight) want[i] *= scales[i];
      if (norm.with_bias) want[i] += shifts[i];
    }
    EXPECT_TRUE(matches(results[next++], x.shape(), dtype, want, within(dtype, 8)))
        << norm.name << " over the last " << count << " of " << name_of(x.dtype())
        << to_string(x.shape());
  }
}

TEST(Norms, OverTheLastAxes) {
  for (const Shape& shape : {Shape{7}, Shape{5, 33}, Shape{33, 5}, Shape{3, 17, 9}, Shape{4, 1000}})
    for (int count = 1; count <= shape.rank(); ++count)
      expect_norms(random_tensor(DType::f32, shape, 4), count);
}

TEST(Norms, OfEveryDType) {
  for (DType dtype : kAllDTypes)
    if (dtype != DType::boolean) expect_norms(random_tensor(dtype, {6, 37}, 5), 1);
}

TEST(Norms, OfViewsAndLongRows) {
  expect_norms(transpose(random_tensor(DType::f32, {21, 34}, 6), 0, 1), 1);
  expect_norms(random_tensor(DType::f32, {2, 70001}, 7), 1);
}

TEST(Norms, OfLargeF16DoNotOverflow) {
  const Tensor x = random_tensor(DType::f16, {3, 100}, 8, -30000, 30000);
  const auto rms = [](const Tensor& a) { return rms_norm(a); };
  const std::vector<Real> want =
      by_rows(x, {1}, [](const Row& row) { return normalized(row, false, 0); });
  EXPECT_TRUE(matches(rms_norm(x), want, {0.6}));
  EXPECT_TRUE(matches(compile(rms)(x), want, {0.6}));
  const std::vector<Real> centred =
      by_rows(x, {1}, [](const Row& row) { return normalized(row, true, 0); });
  EXPECT_TRUE(matches(layer_norm(x), centred, {0.6, 1e-3L}));
}

TEST(Norms, TakeTheDTypeOfTheirOperands) {
  auto f = [](const Tensor& half, const Tensor& single) {
    EXPECT_EQ(layer_norm(half).dtype(), DType::f16);
    EXPECT_EQ(layer_norm(half, cast(single, DType::f16)).dtype(), DType::f16);
    EXPECT_EQ(layer_norm(half, single).dtype(), DType::f32);
    EXPECT_EQ(rms_norm(half, single).dtype(), DType::f32);
    EXPECT_EQ(rms_norm(single, half).dtype(), DType::f32);
    return half;
  };
  compile(f)(zeros({4}, DType::f16), zeros({4}));
}

}  // namespace
}  // namespace sinter::testing
