// The functions kernels call, for one element at a time: used by the interpreter and the constant
// folder. visit_pointwise() turns an op of the op table into a callable.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "src/graph/op.h"

namespace sinter::scalar {

// An integer with wrapping arithmetic, as in kernels.
template <typename T>
struct Wrapping {
  T value = 0;
  Wrapping() = default;
  template <typename U>
  explicit Wrapping(U v) : value(static_cast<T>(v)) {}
  explicit operator T() const { return value; }
  using U = std::make_unsigned_t<T>;
  U bits() const { return static_cast<U>(value); }
  friend Wrapping operator+(Wrapping a, Wrapping b) { return Wrapping(a.bits() + b.bits()); }
  friend Wrapping operator-(Wrapping a, Wrapping b) { return Wrapping(a.bits() - b.bits()); }
  friend Wrapping operator*(Wrapping a, Wrapping b) { return Wrapping(a.bits() * b.bits()); }
  friend Wrapping operator-(Wrapping a) { return Wrapping(U{0} - a.bits()); }
  friend bool operator==(Wrapping a, Wrapping b) { return a.value == b.value; }
  friend bool operator<(Wrapping a, Wrapping b) { return a.value < b.value; }
};
using I32 = Wrapping<std::int32_t>;
using I64 = Wrapping<std::int64_t>;

template <typename T>
constexpr bool kIsReal = std::is_floating_point_v<T>;

template <typename T>
constexpr DType kDTypeOf = std::is_same_v<T, float>    ? DType::f32
                           : std::is_same_v<T, double> ? DType::f64
                           : std::is_same_v<T, I32>    ? DType::i32
                           : std::is_same_v<T, I64>    ? DType::i64
                                                       : DType::boolean;

template <typename T>
T like(T, double x) {
  return T(x);
}
template <typename T>
T select(bool condition, T a, T b) {
  return condition ? a : b;
}
template <typename T>
bool eq(T a, T b) {
  return a == b;
}
template <typename T>
bool ne(T a, T b) {
  return !(a == b);
}
template <typename T>
bool lt(T a, T b) {
  return a < b;
}
template <typename T>
bool le(T a, T b) {
  return a < b || a == b;
}
template <typename T>
bool gt(T a, T b) {
  return b < a;
}
template <typename T>
bool ge(T a, T b) {
  return b < a || a == b;
}
inline bool logical_and(bool a, bool b) { return a && b; }
inline bool logical_or(bool a, bool b) { return a || b; }
inline bool logical_xor(bool a, bool b) { return a != b; }
inline bool logical_not(bool a) { return !a; }

template <typename T>
bool isnan(T a) {
  if constexpr (kIsReal<T>) return std::isnan(a);
  return false;
}
template <typename T>
bool isinf(T a) {
  return std::isinf(a);
}
template <typename T>
bool isfinite(T a) {
  return std::isfinite(a);
}
template <typename T>
T maximum(T a, T b) {
  return isnan(a) || b < a ? a : b;  // propagates NaN
}
template <typename T>
T minimum(T a, T b) {
  return isnan(a) || a < b ? a : b;
}
template <typename T>
T abs(T a) {
  if constexpr (kIsReal<T>)
    return std::fabs(a);
  else
    return a < T(0) ? -a : a;
}

// Rounds down; the remainder has the divisor's sign. Integer division by zero gives 0.
template <typename T>
T floor_div(T a, T b) {
  if constexpr (kIsReal<T>) {
    if (b == 0) return a / b;
    const T rest = std::fmod(a, b);  // exact, where a / b may round up to the next integer
    const T quotient = std::nearbyint((a - rest) / b);
    return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
  } else {
    if (b == T(0)) return T(0);
    if (b == T(-1)) return -a;
    const auto quotient = a.value / b.value;
    return T(quotient - (a.value % b.value != 0 && (a.value < 0) != (b.value < 0) ? 1 : 0));
  }
}
template <typename T>
T remainder(T a, T b) {
  if constexpr (kIsReal<T>) {
    const T rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    return b == T(0) ? T(0) : a - floor_div(a, b) * b;
  }
}

#define SINTER_SCALAR_MATH(name)                      \
  inline float name(float a) { return std::name(a); } \
  inline double name(double a) { return std::name(a); }
SINTER_SCALAR_MATH(floor)
SINTER_SCALAR_MATH(ceil)
SINTER_SCALAR_MATH(trunc)
SINTER_SCALAR_MATH(sqrt)
SINTER_SCALAR_MATH(exp)
SINTER_SCALAR_MATH(exp2)
SINTER_SCALAR_MATH(expm1)
SINTER_SCALAR_MATH(log)
SINTER_SCALAR_MATH(log2)
SINTER_SCALAR_MATH(log10)
SINTER_SCALAR_MATH(log1p)
SINTER_SCALAR_MATH(sin)
SINTER_SCALAR_MATH(cos)
SINTER_SCALAR_MATH(tan)
SINTER_SCALAR_MATH(asin)
SINTER_SCALAR_MATH(acos)
SINTER_SCALAR_MATH(atan)
SINTER_SCALAR_MATH(sinh)
SINTER_SCALAR_MATH(cosh)
SINTER_SCALAR_MATH(tanh)
SINTER_SCALAR_MATH(asinh)
SINTER_SCALAR_MATH(acosh)
SINTER_SCALAR_MATH(atanh)
SINTER_SCALAR_MATH(erf)
SINTER_SCALAR_MATH(erfc)
#undef SINTER_SCALAR_MATH

template <typename T>
T round(T a) {
  return std::nearbyint(a);  // half to even
}
template <typename T>
T reciprocal(T a) {
  return T(1) / a;
}
template <typename T>
T rsqrt(T a) {
  return T(1) / std::sqrt(a);
}
template <typename T>
T sigmoid(T a) {
  const T power = std::exp(-std::fabs(a));  // a negative exponent cannot overflow
  return (a < 0 ? power : T(1)) / (T(1) + power);
}
// Integer powers are exact modulo 2^bits. A negative exponent gives 0, except for the bases 1 and
// -1, where only the exponent's parity matters.
template <typename T>
T pow(T a, T b) {
  if constexpr (kIsReal<T>) {
    return std::pow(a, b);
  } else {
    if (b < T(0) && !(a == T(1)) && !(a == T(-1))) return T(0);
    T power(1);
    for (auto rest = b.bits(); rest != 0 && !(a == T(1)); rest >>= 1, a = a * a)
      if (rest & 1) power = power * a;
    return power;
  }
}
template <typename T>
T atan2(T a, T b) {
  return std::atan2(a, b);
}
template <typename T>
T fma(T a, T b, T c) {
  return std::fma(a, b, c);
}

// Calls visit(f) where f(a, b, c) computes `op` on elements of type T and ignores operands the op
// does not have. Select's f takes exactly a bool first, without conversions, so callers can test
// for it with is_invocable. Returns false if the op is not defined for T.
template <typename T, typename Visitor>
bool visit_pointwise(Op op, Visitor&& visit) {
  switch (op) {
#define SINTER_POINTWISE(name, arity, rule, cost, ...)                                   \
  case Op::name:                                                                         \
    if constexpr (rule_allows(DTypeRule::rule, kDTypeOf<T>)) {                           \
      using First = std::conditional_t<DTypeRule::rule == DTypeRule::Select, bool, T>;   \
      visit([](std::same_as<First> auto a, [[maybe_unused]] T b, [[maybe_unused]] T c) { \
        return __VA_ARGS__;                                                              \
      });                                                                                \
      return true;                                                                       \
    }                                                                                    \
    return false;
#include <sinter/ops.def>
#undef SINTER_POINTWISE
    default:
      return false;
  }
}

}  // namespace sinter::scalar
