// References are the textbook formulas in long double.
#include "tests/support/reduction_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sinter::testing {
namespace {

using Row = std::vector<Real>;

Real total(const Row& row) { return std::accumulate(row.begin(), row.end(), Real{0}); }
Real average(const Row& row) { return total(row) / static_cast<Real>(row.size()); }
Real product(const Row& row) {
  return std::accumulate(row.begin(), row.end(), Real{1}, std::multiplies<>());
}
Real largest(const Row& row) { return *std::max_element(row.begin(), row.end()); }
Real smallest(const Row& row) { return *std::min_element(row.begin(), row.end()); }
Real first_largest(const Row& row) {
  return static_cast<Real>(std::max_element(row.begin(), row.end()) - row.begin());
}
Real first_smallest(const Row& row) {
  return static_cast<Real>(std::min_element(row.begin(), row.end()) - row.begin());
}
Real some(const Row& row) {
  return std::any_of(row.begin(), row.end(), [](Real x) { return x != 0; });
}
Real every(const Row& row) {
  return std::all_of(row.begin(), row.end(), [](Real x) { return x != 0; });
}
Real squared_distances(const Row& row) {
  const Real middle = average(row);
  Real sum = 0;
  for (Real x : row) sum += (x - middle) * (x - middle);
  return sum;
}
Real sample_variance(const Row& row) {
  return squared_distances(row) / static_cast<Real>(row.size() - 1);
}
Real population_variance(const Row& row) {
  return squared_distances(row) / static_cast<Real>(row.size());
}
Real deviation(const Row& row) { return std::sqrt(sample_variance(row)); }
Real log_of_sum(const Row& row) {
  const Real top = largest(row);
  Real sum = 0;
  for (Real x : row) sum += std::exp(x - top);
  return top + std::log(sum);
}

// Rounding errors of a sum have either sign: n of them in one lane add up to about sqrt(n).
Real roundings_of_sum(const Row& row) { return 8 + std::sqrt(static_cast<Real>(row.size())); }
Real no_error(const Row&, Real) { return 0; }
Real sum_of_magnitudes(const Row& row, Real) {
  Real sum = 0;
  for (Real x : row) sum += std::fabs(x);
  return sum * roundings_of_sum(row);
}
Real mean_of_magnitudes(const Row& row, Real) {
  return sum_of_magnitudes(row, 0) / static_cast<Real>(row.size());
}
Real every_factor(const Row& row, Real result) {
  return std::fabs(result) * static_cast<Real>(row.size());
}
// The mean is rounded, which changes every difference from it.
Real largest_square(const Row& row, Real) {
  Real most = 0;
  for (Real x : row) most = std::max(most, x * x);
  return most * roundings_of_sum(row);
}
Real largest_magnitude(const Row& row, Real) {
  Real most = 1;
  for (Real x : row) most = std::max(most, std::fabs(x));
  return most * roundings_of_sum(row);
}

DType same(DType dtype) { return dtype; }
DType counted(DType dtype) { return is_floating(dtype) ? dtype : DType::i64; }
DType floating(DType dtype) { return is_floating(dtype) ? dtype : DType::f32; }
DType boolean(DType) { return DType::boolean; }
DType index(DType) { return DType::i64; }

}  // namespace

const std::vector<ReductionRow>& reduction_table() {
#define SINTER_OVER_AXES(name) \
  [](const Tensor& x, const std::vector<int>& axes, bool keep) { return name(x, Axes(axes), keep); }
#define SINTER_OVER_AXIS(name)                                                  \
  [](const Tensor& x, const std::vector<int>& axes, bool keep) {                \
    return axes.empty() ? name(x, std::nullopt, keep) : name(x, axes[0], keep); \
  }
  static const std::vector<ReductionRow> table{
      {"sum", true, SINTER_OVER_AXES(sum), total, counted, 1, sum_of_magnitudes},
      {"mean", true, SINTER_OVER_AXES(mean), average, floating, 1, mean_of_magnitudes},
      {"prod", true, SINTER_OVER_AXES(prod), product, counted, 2, every_factor},
      {"max", true, SINTER_OVER_AXES(max), largest, same, 0, no_error},
      {"min", true, SINTER_OVER_AXES(min), smallest, same, 0, no_error},
      {"argmax", false, SINTER_OVER_AXIS(argmax), first_largest, index, 0, no_error},
      {"argmin", false, SINTER_OVER_AXIS(argmin), first_smallest, index, 0, no_error},
      {"any", true, SINTER_OVER_AXES(any), some, boolean, 0, no_error},
      {"all", true, SINTER_OVER_AXES(all), every, boolean, 0, no_error},
      {"var", true, SINTER_OVER_AXES(var), sample_variance, floating, 4, largest_square},
      {"var_of_population", true,
       [](const Tensor& x, const std::vector<int>& axes, bool keep) {
         return var(x, Axes(axes), keep, 0);
       },
       population_variance, floating, 4, largest_square},
      {"std", true, SINTER_OVER_AXES(sinter::std), deviation, floating, 4, largest_magnitude},
      {"logsumexp", true, SINTER_OVER_AXES(logsumexp), log_of_sum, floating, 4, largest_magnitude},
  };
#undef SINTER_OVER_AXES
#undef SINTER_OVER_AXIS
  return table;
}

Gathered gather(const Tensor& x, const std::vector<int>& axes, bool keepdim) {
  auto is_reduced = [&](int axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  Gathered result;
  Strides steps = Shape::filled(x.rank(), 0);  // in the result, by axis of x
  std::int64_t count = 1;
  for (int i = x.rank() - 1; i >= 0; --i) {
    if (is_reduced(i)) continue;
    steps[i] = count;
    count *= x.shape()[i];
  }
  for (int i = 0; i < x.rank(); ++i)
    if (!is_reduced(i))
      result.shape.push_back(x.shape()[i]);
    else if (keepdim)
      result.shape.push_back(1);
  result.rows.resize(static_cast<std::size_t>(count));
  Shape position = Shape::filled(x.rank(), 0);
  for (Real value : values_of(x)) {
    std::int64_t at = 0;
    for (int i = 0; i < x.rank(); ++i) at += position[i] * steps[i];
    result.rows[static_cast<std::size_t>(at)].push_back(value);
    for (int i = x.rank() - 1; i >= 0; --i) {
      if (++position[i] < x.shape()[i]) break;
      position[i] = 0;
    }
  }
  return result;
}

::testing::AssertionResult matches_reduction(const Tensor& got, const ReductionRow& reduction,
                                             DType input, const Gathered& rows) {
  const DType dtype = reduction.dtype(input);
  std::vector<Real> want;
  Tolerance tolerance{0.5};
  for (const Row& row : rows.rows) {
    want.push_back(reduction.reference(row));
    const Real unit = epsilon_of(compute_dtype(dtype));
    tolerance.absolute = std::max(tolerance.absolute, static_cast<Real>(reduction.factor) * unit *
                                                          reduction.scale(row, want.back()));
  }
  // A 16-bit result: half an ulp in addition to the f32 error.
  if (dtype != compute_dtype(dtype)) {
    Real most = 0;
    for (Real value : want)
      if (std::isfinite(value)) most = std::max(most, std::fabs(value));
    if (reduction.factor > 0) tolerance.absolute += ulp_of(dtype, most) / 2;
  }
  return matches(got, rows.shape, dtype, want, tolerance);
}

}  // namespace sinter::testing
