// Rounding is done here with ldexp and nearbyint, independent of src/base/dtype.cpp.
#include "tests/support/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <random>
#include <sstream>

namespace sinter::testing {
namespace {

struct FloatFormat {
  int digits;        // of the significand, the hidden one included
  int min_exponent;  // of the least normal number, as std::frexp counts
  int max_exponent;
};

FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {11, -13, 16};
    case DType::bf16:
      return {8, -125, 128};
    case DType::f32:
      return {24, -125, 128};
    default:
      return {53, -1021, 1024};
  }
}

template <typename T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

Real decode16(DType dtype, std::uint16_t bits) {
  const FloatFormat format = format_of(dtype);
  const int mantissa_bits = format.digits - 1;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int exponent = (bits & 0x7fff) >> mantissa_bits;
  const int most = (1 << (15 - mantissa_bits)) - 1;
  Real value = 0;
  if (exponent == most)
    value =
        mantissa ? std::numeric_limits<Real>::quiet_NaN() : std::numeric_limits<Real>::infinity();
  else if (exponent == 0)
    value = std::ldexp(static_cast<Real>(mantissa), format.min_exponent - format.digits);
  else
    value = std::ldexp(static_cast<Real>(mantissa + (1 << mantissa_bits)),
                       format.min_exponent - format.digits + exponent - 1);
  return bits & 0x8000 ? -value : value;
}

// Of a value the dtype holds.
std::uint16_t encode16(DType dtype, Real value) {
  const FloatFormat format = format_of(dtype);
  const int mantissa_bits = format.digits - 1;
  const int infinity = ((1 << (15 - mantissa_bits)) - 1) << mantissa_bits;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const Real magnitude = std::fabs(value);
  int bits = 0;
  if (std::isnan(value)) {
    bits = infinity | 1 << (mantissa_bits - 1);
  } else if (std::isinf(value)) {
    bits = infinity;
  } else if (magnitude != 0) {
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int biased = std::max(exponent - format.min_exponent + 1, 0);
    const int scale = format.min_exponent - format.digits + std::max(biased, 1) - 1;
    const int mantissa = static_cast<int>(std::ldexp(magnitude, -scale));
    bits = biased ? (biased << mantissa_bits) + mantissa - (1 << mantissa_bits) : mantissa;
  }
  return static_cast<std::uint16_t>(sign | bits);
}

Real load_element(DType dtype, const char* at) {
  switch (dtype) {
    case DType::f32:
      return load<float>(at);
    case DType::f16:
    case DType::bf16:
      return decode16(dtype, load<std::uint16_t>(at));
    case DType::f64:
      return load<double>(at);
    case DType::i32:
      return load<std::int32_t>(at);
    case DType::i64:
      return static_cast<Real>(load<std::int64_t>(at));
    case DType::boolean:
      return load<unsigned char>(at);
  }
  return 0;
}

template <typename T>
void store(char* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

void store_element(DType dtype, char* at, Real value) {
  switch (dtype) {
    case DType::f32:
      return store(at, static_cast<float>(value));
    case DType::f16:
    case DType::bf16:
      return store(at, encode16(dtype, value));
    case DType::f64:
      return store(at, static_cast<double>(value));
    case DType::i32:
      return store(at, static_cast<std::int32_t>(value));
    case DType::i64:
      return store(at, static_cast<std::int64_t>(value));
    case DType::boolean:
      return store(at, static_cast<unsigned char>(value != 0));
  }
}

Real wrap(DType dtype, Real x) {
  const Real range = std::ldexp(Real{1}, dtype == DType::i32 ? 32 : 64);
  Real rest = std::fmod(x, range);
  if (rest >= range / 2) rest -= range;
  if (rest < -range / 2) rest += range;
  return rest + 0;  // no -0
}

}  // namespace

Real largest_of(DType dtype) {
  if (dtype == DType::boolean) return 1;
  if (dtype == DType::i32) return std::numeric_limits<std::int32_t>::max();
  if (dtype == DType::i64) return static_cast<Real>(std::numeric_limits<std::int64_t>::max());
  const FloatFormat format = format_of(dtype);
  return std::ldexp(1 - std::ldexp(Real{1}, -format.digits), format.max_exponent);
}

Real least_of(DType dtype) {
  if (dtype == DType::boolean) return 0;
  return is_floating(dtype) ? -largest_of(dtype) : -largest_of(dtype) - 1;
}

Real ulp_of(DType dtype, Real x) {
  if (!is_floating(dtype)) return 0;
  const FloatFormat format = format_of(dtype);
  int exponent = format.min_exponent;
  if (x != 0 && std::isfinite(x)) std::frexp(x, &exponent);
  return std::ldexp(Real{1}, std::max(exponent, format.min_exponent) - format.digits);
}

Real epsilon_of(DType dtype) { return ulp_of(dtype, 1) / 2; }

Real round_to(DType dtype, Real x) {
  if (dtype == DType::boolean) return x != 0;
  if (is_integer(dtype)) return wrap(dtype, std::trunc(x));
  if (x == 0 || !std::isfinite(x)) return x;
  const Real unit = ulp_of(dtype, x);
  const Real rounded = std::nearbyint(x / unit) * unit;
  if (std::fabs(rounded) > largest_of(dtype))
    return std::copysign(std::numeric_limits<Real>::infinity(), x);
  return rounded;
}

Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<Real>& values) {
  EXPECT_EQ(shape.numel(), static_cast<std::int64_t>(values.size()));
  const std::size_t size = size_of(dtype);
  std::vector<char> bytes(values.size() * size + 1);
  for (std::size_t i = 0; i < values.size(); ++i)
    store_element(dtype, bytes.data() + i * size, round_to(dtype, values[i]));
  return from_host(bytes.data(), shape, dtype);
}

std::vector<Real> values_of(const Tensor& tensor) {
  return broadcast_values(tensor, tensor.shape());
}

std::vector<Real> broadcast_values(const Tensor& tensor, const Shape& shape) {
  std::vector<Real> values;
  const std::int64_t count = shape.numel();
  values.reserve(static_cast<std::size_t>(count));
  if (count == 0) return values;
  const auto* base = static_cast<const char*>(tensor.data());
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype()));
  Strides strides = Shape::filled(shape.rank(), 0);
  const int lead = shape.rank() - tensor.rank();
  for (int i = 0; i < tensor.rank(); ++i)
    if (tensor.shape()[i] != 1) strides[lead + i] = tensor.strides()[i];
  Shape index = Shape::filled(shape.rank(), 0);
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(load_element(tensor.dtype(), base + at * size));
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      at += strides[axis];
      if (++index[axis] < shape[axis]) break;
      at -= index[axis] * strides[axis];
      index[axis] = 0;
    }
  }
  return values;
}

std::vector<Real> random_values(DType dtype, std::int64_t count, unsigned seed, Real low,
                                Real high) {
  std::mt19937 random(seed);
  std::vector<Real> values(static_cast<std::size_t>(count));
  for (Real& value : values) {
    const Real unit = std::ldexp(static_cast<Real>(random()), -32);
    if (dtype == DType::boolean)
      value = unit < 0.5L;
    else if (is_integer(dtype))
      value = std::floor(low + unit * (high - low));
    else
      value = round_to(dtype, low + unit * (high - low));
  }
  return values;
}

Tensor random_tensor(DType dtype, const Shape& shape, unsigned seed, Real low, Real high) {
  return tensor_of(dtype, shape, random_values(dtype, shape.numel(), seed, low, high));
}

Tensor counting_tensor(const Shape& shape, DType dtype) {
  std::vector<Real> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Real>(i);
  return tensor_of(dtype, shape, values);
}

std::vector<Real> special_values(DType dtype) {
  if (dtype == DType::boolean) return {0, 1};
  std::vector<Real> values;
  if (is_integer(dtype)) {
    for (Real x : {0.L, 1.L, 2.L, 3.L, 7.L, 100.L, 46341.L, 16777217.L, 1000000007.L})
      values.insert(values.end(), {x, 0 - x});
    if (dtype == DType::i64)
      for (Real x : {3037000500.L, 9007199254740993.L, 4611686018427387905.L})
        values.insert(values.end(), {x, -x});
    const Real most = largest_of(dtype);
    values.insert(values.end(), {most, most - 1, -most, -most - 1});
    return values;
  }
  const FloatFormat format = format_of(dtype);
  const Real least_normal = std::ldexp(Real{1}, format.min_exponent - 1);
  const Real denormal = ulp_of(dtype, 0);
  const Real one_more = 1 + ulp_of(dtype, 1);
  for (Real x : {0.L,
                 denormal,
                 3 * denormal,
                 least_normal / 2,
                 least_normal,
                 1e-5L,
                 0.25L,
                 0.5L,
                 1 - ulp_of(dtype, 0.5L),
                 1.L,
                 one_more,
                 1.5L,
                 2.L,
                 2.5L,
                 3.L,
                 10.L,
                 88.7L,
                 104.L,
                 710.L,
                 1e4L,
                 largest_of(dtype) / 2,
                 largest_of(dtype),
                 std::numeric_limits<Real>::infinity()})
    values.insert(values.end(), {round_to(dtype, x), -round_to(dtype, x)});
  values.push_back(std::numeric_limits<Real>::quiet_NaN());
  return values;
}

std::string difference(DType dtype, Real got, Real want, const Tolerance& tolerance) {
  std::ostringstream text;
  text.precision(12);
  const Real rounded = round_to(dtype, want);
  auto say = [&](const char* why) {
    text << why << "got " << got << ", expected " << want;
    if (is_floating(dtype) && std::isfinite(got) && std::isfinite(want))
      text << " (" << std::fabs(got - want) / ulp_of(dtype, want) << " ulps)";
    return text.str();
  };
  if (!is_floating(dtype)) return got == rounded ? "" : say("");
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? "" : say("");
  if (tolerance.signs_of_zeros && got == 0 && rounded == 0 &&
      std::signbit(got) != std::signbit(want))
    return say("sign of zero: ");
  if (got == rounded) return "";
  const Real most = largest_of(dtype);
  if (std::isinf(got) || std::isinf(want)) {
    // An infinity for a result within the bound of overflow, or the other way round.
    const bool same_side = std::signbit(got) == std::signbit(want);
    const Real other = std::isinf(got) ? want : got;
    const Real reach = static_cast<Real>(tolerance.ulps) * ulp_of(dtype, most);
    return same_side && std::fabs(other) + reach >= most ? "" : say("");
  }
  const Real allowed =
      std::max(static_cast<Real>(tolerance.ulps) * ulp_of(dtype, want), tolerance.absolute);
  return std::fabs(got - want) <= allowed ? "" : say("");
}

::testing::AssertionResult matches(const Tensor& got, const Shape& shape, DType dtype,
                                   const std::vector<Real>& want, const Tolerance& tolerance) {
  if (got.dtype() != dtype)
    return ::testing::AssertionFailure()
           << "dtype is " << name_of(got.dtype()) << ", expected " << name_of(dtype);
  if (got.shape() != shape)
    return ::testing::AssertionFailure()
           << "shape is " << to_string(got.shape()) << ", expected " << to_string(shape);
  return matches(got, want, tolerance);
}

::testing::AssertionResult matches(const Tensor& got, const std::vector<Real>& want,
                                   const Tolerance& tolerance) {
  const std::vector<Real> values = values_of(got);
  if (values.size() != want.size())
    return ::testing::AssertionFailure() << values.size() << " elements, expected " << want.size();
  constexpr int kShown = 4;
  int wrong = 0;
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string why = difference(got.dtype(), values[i], want[i], tolerance);
    if (why.empty()) continue;
    if (++wrong <= kShown) text += "\n  at " + std::to_string(i) + ": " + why;
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << wrong << " of " << values.size() << " elements of "
                                       << name_of(got.dtype()) << to_string(got.shape()) << text;
}

}  // namespace sinter::testing

namespace sinter {

void PrintTo(DType dtype, std::ostream* out) { *out << name_of(dtype); }
void PrintTo(const Shape& shape, std::ostream* out) { *out << to_string(shape); }

}  // namespace sinter
