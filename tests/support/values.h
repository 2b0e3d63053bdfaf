// Host values of tensors, and tolerances of results.
// Reals are long doubles: they hold every value of every dtype, and leave room to judge f64.
#pragma once

#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <string>
#include <vector>

namespace sinter::testing {

using Real = long double;

inline constexpr DType kAllDTypes[] = {DType::f32, DType::f16, DType::bf16,   DType::f64,
                                       DType::i32, DType::i64, DType::boolean};
inline constexpr DType kFloatDTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f64};

// The value nearest to x that the dtype holds: floats to nearest even, integers wrap.
Real round_to(DType dtype, Real x);
// The distance between neighbouring floats at x; 0 for integers and bools.
Real ulp_of(DType dtype, Real x);
Real largest_of(DType dtype);
Real least_of(DType dtype);  // the most negative
// Half of ulp_of(dtype, 1): a rounding's largest relative error.
Real epsilon_of(DType dtype);

// A dense tensor of the values, rounded to the dtype.
Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<Real>& values);
// The elements in row-major order, read from memory by data() and strides(): no kernel runs.
std::vector<Real> values_of(const Tensor& tensor);
// The same of the tensor broadcast to a shape.
std::vector<Real> broadcast_values(const Tensor& tensor, const Shape& shape);

// Repeatable values the dtype holds: floats in [low, high), integers in that range, bools.
std::vector<Real> random_values(DType dtype, std::int64_t count, unsigned seed = 1, Real low = -4,
                                Real high = 4);
Tensor random_tensor(DType dtype, const Shape& shape, unsigned seed = 1, Real low = -4,
                     Real high = 4);
// 0, 1, 2, ...: shows where each element went.
Tensor counting_tensor(const Shape& shape, DType dtype = DType::f32);

// Zeros of both signs, subnormals, ones, thresholds of the functions, the largest, infinities, NaN;
// for integers the extremes and values that f32 and f64 cannot represent.
std::vector<Real> special_values(DType dtype);

// The tolerance of a result: a number of ulps of the result's dtype, or the absolute distance,
// whichever is more. Integers and bools are exact.
struct Tolerance {
  double ulps = 0;
  Real absolute = 0;
  bool signs_of_zeros = false;  // -0 and 0 differ
};

// Empty if `got` is close enough to `want`; NaN matches NaN only, infinities match themselves and
// what rounds to them.
std::string difference(DType dtype, Real got, Real want, const Tolerance& tolerance);

// One failure for the tensor, with its first wrong elements.
::testing::AssertionResult matches(const Tensor& got, const Shape& shape, DType dtype,
                                   const std::vector<Real>& want, const Tolerance& tolerance = {});
::testing::AssertionResult matches(const Tensor& got, const std::vector<Real>& want,
                                   const Tolerance& tolerance = {});

}  // namespace sinter::testing

namespace sinter {

// Found by gtest when it prints them.
void PrintTo(DType dtype, std::ostream* out);
void PrintTo(const Shape& shape, std::ostream* out);

}  // namespace sinter
