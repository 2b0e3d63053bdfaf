// Tests the vocabulary of generated CPU kernels, kernels/cpu/*.h, against f64 and libm references.
// One file per lane count: this one has 16 lanes, its siblings define SN_LANES and include it. Some
// of them disable the instructions of newer processors and name their suite with SN_SUITE. Links
// with gtest, libmvec and libm.

#ifndef SN_LANES
#define SN_LANES 16
#endif
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors wider than this machine's are all inlined
#endif

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

// clang-format off
#include "kernels/cpu/types.h"
#include "kernels/cpu/math.h"
#include "kernels/cpu/math_divide.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/transpose.h"
#include "kernels/cpu/math_call.h"
#include "kernels/cpu/math_exp.h"
#include "kernels/cpu/math_log.h"
#include "kernels/cpu/math_trig.h"
#include "kernels/cpu/math_libmvec.h"
#include "kernels/cpu/math_pow.h"
// clang-format on

#define SN_SUITE_OF(lanes) CpuVocabulary##lanes
#define SN_SUITE_NAME(lanes) SN_SUITE_OF(lanes)
#ifndef SN_SUITE
#define SN_SUITE SN_SUITE_NAME(SN_LANES)
#endif
#define SN_TEST_OF(suite, name) TEST(suite, name)
#define SN_TEST(name) SN_TEST_OF(SN_SUITE, name)

namespace {

using namespace sn;

constexpr int kLanes = SN_LANES;
constexpr f64 kInf = std::numeric_limits<f64>::infinity();
constexpr f64 kNan = std::numeric_limits<f64>::quiet_NaN();

template <class V>
auto lanes_of(V v) {
  std::vector<std::decay_t<decltype(get_lane(v, 0))>> r(kLanes);
  for (int i = 0; i < kLanes; ++i) r[i] = get_lane(v, i);
  return r;
}

// Distance in units of the result type's last place at the reference; huge where one is NaN, or
// infinite beyond rounding.
template <class T>
f64 ulps(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  if (std::isnan(got)) return 1e9;
  T rounded = (T)want;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    T most = std::numeric_limits<T>::max();
    return std::fabs(got) >= most && std::fabs(rounded) >= most ? 1 : 1e9;
  }
  if (want == 0) return got == 0 ? 0 : 1e9;
  int exponent;
  std::frexp(want, &exponent);
  constexpr int digits = std::numeric_limits<T>::digits;
  int lowest = std::numeric_limits<T>::min_exponent - digits;
  return (f64)(std::fabs(got - want) / std::ldexp(1.0L, std::max(exponent - digits, lowest)));
}

template <class T>
bool same_kind(T got, T want) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want) || want == 0) return got == want && std::signbit(got) == std::signbit(want);
  return true;
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> r;
  for (T x : {T(0),
              Limits::denorm_min(),
              Limits::min() / 3,
              Limits::min(),
              T(1e-30),
              T(1e-5),
              T(0.25),
              T(0.5),
              T(1) - Limits::epsilon(),
              T(1),
              T(1) + Limits::epsilon(),
              T(1.5),
              T(2),
              T(10),
              T(88.7),
              T(89),
              T(104),
              T(120),
              T(710),
              T(746),
              T(1e4),
              T(1.0001e4),
              T(1e6),
              T(1e10),
              T(1e30),
              Limits::max(),
              Limits::infinity(),
              Limits::quiet_NaN()}) {
    r.push_back(x);
    r.push_back(-x);
  }
  return r;
}

// Special values, then bit patterns spread over the whole type, then random ones in [-20, 20].
template <class T>
std::vector<T> sample(int count) {
  std::vector<T> r = special_values<T>();
  std::mt19937_64 random(7);
  for (int i = 0; i < count; ++i) {
    u64 bits = random();
    T x;
    std::memcpy(&x, &bits, sizeof(T));
    r.push_back(x);
    r.push_back((T)(std::ldexp((f64)(i64)random(), -63) * 20));
    r.push_back((T)std::ldexp((f64)(i64)random(), -63));
  }
  while (r.size() % kLanes) r.push_back(T(0.5));
  return r;
}

template <class T, class F, class R>
void check_function(const char* name, f64 bound, F function, R reference) {
  f64 worst = 0;
  T where = 0;
  std::vector<T> x = sample<T>(20000);
  for (size_t i = 0; i < x.size(); i += kLanes) {
    auto vector = lanes_of(function(load(&x[i])));
    for (int j = 0; j < kLanes; ++j) {
      long double want = reference((long double)x[i + j]);
      f64 error = std::max(ulps<T>(vector[j], want), ulps<T>(function(x[i + j]), want));
      if (error > worst) worst = error, where = x[i + j];
    }
  }
  EXPECT_LE(worst, bound) << name << " of " << where << " (" << sizeof(T) * 8 << " bits)";
}

// The table of error bounds: function, f32 ulps, f64 ulps, reference. Over all f32, the vector
// forms of tanh reach 3.34.
#define SN_UNARY_FUNCTIONS(ROW)                                                        \
  ROW(exp, 2, 2, std::exp(x))                                                          \
  ROW(exp2, 2, 2, std::exp2(x))                                                        \
  ROW(tanh, 3.5, 3, std::tanh(x))                                                      \
  ROW(sigmoid, 4, 4, x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x))) \
  ROW(sin, 4, 4, std::sin(x))                                                          \
  ROW(cos, 4, 4, std::cos(x))                                                          \
  ROW(expm1, 3, 3, std::expm1(x))                                                      \
  ROW(log, 2, 2, std::log(x))                                                          \
  ROW(log2, 3, 3, std::log2(x))                                                        \
  ROW(log10, 3, 3, std::log10(x))                                                      \
  ROW(log1p, 2, 2, std::log1p(x))                                                      \
  ROW(tan, 4, 4, std::tan(x))                                                          \
  ROW(asin, 4, 4, std::asin(x))                                                        \
  ROW(acos, 4, 4, std::acos(x))                                                        \
  ROW(atan, 4, 4, std::atan(x))                                                        \
  ROW(sinh, 3, 3, std::sinh(x))                                                        \
  ROW(cosh, 2, 2, std::cosh(x))                                                        \
  ROW(asinh, 4, 4, std::asinh(x))                                                      \
  ROW(acosh, 4, 4, std::acosh(x))                                                      \
  ROW(atanh, 4, 4, std::atanh(x))                                                      \
  ROW(erf, 4, 4, std::erf(x))                                                          \
  ROW(erfc, 4, 4, std::erfc(x))                                                        \
  ROW(sqrt, 0.5, 0.5, std::sqrt(x))                                                    \
  ROW(rsqrt, 2, 2, 1 / std::sqrt(x))                                                   \
  ROW(reciprocal, 0.5, 0.5, 1 / x)                                                     \
  ROW(floor, 0, 0, std::floor(x))                                                      \
  ROW(ceil, 0, 0, std::ceil(x))                                                        \
  ROW(trunc, 0, 0, std::trunc(x))                                                      \
  ROW(round, 0, 0, std::nearbyint(x))                                                  \
  ROW(abs, 0, 0, std::fabs(x))

SN_TEST(UnaryFunctionsStayWithinTheirBounds) {
#define SN_ROW(name, f32_ulps, f64_ulps, reference)        \
  check_function<f32>(                                     \
      #name, f32_ulps, [](auto x) { return sn::name(x); }, \
      [](long double x) { return reference; });            \
  check_function<f64>(                                     \
      #name, f64_ulps, [](auto x) { return sn::name(x); }, \
      [](long double x) { return reference; });
  SN_UNARY_FUNCTIONS(SN_ROW)
#undef SN_ROW
}

template <class T, class F, class R>
void check_binary(const char* name, f64 bound, F function, R reference) {
  std::vector<T> x = special_values<T>(), y = x;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<f64> some(-20, 20);
  for (int i = 0; i < 200; ++i) x.push_back((T)some(random)), y.push_back((T)some(random));
  f64 worst = 0;
  T at_a = 0, at_b = 0;
  for (T a : x)
    for (T b : y) {
      T want = reference(a, b);
      auto got = lanes_of(function(splat(a), splat(b)));
      f64 error = std::max(ulps<T>(got[0], want), ulps<T>(got[kLanes - 1], want));
      error = std::max(error, ulps<T>(function(a, b), want));
      if (error > worst) worst = error, at_a = a, at_b = b;
    }
  EXPECT_LE(worst, bound) << name << " of " << at_a << " and " << at_b;
}

template <class T>
T python_remainder(T a, T b) {
  T r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

SN_TEST(BinaryFunctionsAgreeWithTheirReferences) {
  auto both = [](const char* name, f64 bound, auto function, auto reference) {
    check_binary<f32>(name, bound, function, reference);
    check_binary<f64>(name, bound, function, reference);
  };
  both(
      "pow", 4, [](auto a, auto b) { return sn::pow(a, b); },
      [](auto a, auto b) { return std::pow(a, b); });
  both(
      "atan2", 4, [](auto a, auto b) { return sn::atan2(a, b); },
      [](auto a, auto b) { return std::atan2(a, b); });
  both(
      "remainder", 0, [](auto a, auto b) { return sn::remainder(a, b); },
      [](auto a, auto b) { return python_remainder(a, b); });
  both(
      "maximum", 0, [](auto a, auto b) { return sn::maximum(a, b); },
      [](auto a, auto b) { return a != a || b != b ? a + b : std::max(a, b); });
  both(
      "minimum", 0, [](auto a, auto b) { return sn::minimum(a, b); },
      [](auto a, auto b) { return a != a || b != b ? a + b : std::min(a, b); });
  both(
      "fma", 0.5, [](auto a, auto b) { return sn::fma(a, b, a); },
      [](auto a, auto b) { return std::fma(a, b, a); });
}

SN_TEST(FloatFloorDivisionRoundsDown) {
  EXPECT_EQ(floor_div(7.0f, 2.0f), 3);
  EXPECT_EQ(floor_div(-7.0f, 2.0f), -4);
  EXPECT_EQ(floor_div(7.0, -2.0), -4);
  EXPECT_EQ(floor_div(-7.0, -2.0), 3);
  EXPECT_EQ(floor_div(1.0, 0.1), 9);
  EXPECT_EQ(floor_div(1.0, 0.0), kInf);
  EXPECT_TRUE(std::isnan(floor_div((f32)kNan, 2.0f)));
  EXPECT_EQ(get_lane(floor_div(splat(-7.0f), splat(2.0f)), 1), -4);
  EXPECT_EQ(get_lane(floor_div(splat(-7.0), splat(2.0)), 1), -4);
}

template <class T>
void check_integer_division() {
  T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  for (T a : {T(0), T(1), T(-1), T(7), T(-7), T(8), T(-8), least, most})
    for (T b : {T(0), T(1), T(-1), T(2), T(-2), T(3), T(-3), least, most}) {
      __int128 q = 0, r = 0;
      if (b != 0) {
        q = (__int128)a / b, r = (__int128)a % b;
        if (r != 0 && (r < 0) != (b < 0)) --q, r += b;
      }
      EXPECT_EQ(floor_div(a, b), (T)q) << a << " / " << b;
      EXPECT_EQ(sn::remainder(a, b), (T)r) << a << " % " << b;
      EXPECT_EQ(get_lane(floor_div(splat(a), splat(b)), 1), (T)q) << a << " / " << b;
      EXPECT_EQ(get_lane(sn::remainder(splat(a), splat(b)), 1), (T)r) << a << " % " << b;
    }
  EXPECT_EQ(sn::abs(least), least);
  EXPECT_EQ(get_lane(sn::abs(splat(T(-5))), 0), 5);
  EXPECT_EQ(get_lane(maximum(splat(T(-5)), splat(T(3))), 0), 3);
  EXPECT_EQ(minimum(T(-5), T(3)), -5);
}

SN_TEST(IntegerDivisionNeverTraps) {
  check_integer_division<i32>();
  check_integer_division<i64>();
}

template <class T>
void check_comparisons() {
  std::vector<T> values = {T(-3), T(0), T(2), T(3)};
  if constexpr (std::is_floating_point_v<T>)
    values.insert(values.end(), {T(kNan), T(kInf), T(-kInf), T(-0.0)});
  for (T a : values)
    for (T b : values) {
      auto va = splat(a), vb = splat(b);
      EXPECT_EQ(get_lane(eq(va, vb), 1), a == b);
      EXPECT_EQ(get_lane(ne(va, vb), 1), a != b);
      EXPECT_EQ(get_lane(lt(va, vb), 1), a < b);
      EXPECT_EQ(get_lane(le(va, vb), 1), a <= b);
      EXPECT_EQ(get_lane(gt(va, vb), 1), a > b);
      EXPECT_EQ(get_lane(ge(va, vb), 1), a >= b);
      EXPECT_EQ(eq(a, b), a == b);
      EXPECT_EQ(le(a, b), a <= b);
      auto picked = lanes_of(select(lt(va, vb), splat(T(1)), splat(T(2))));
      EXPECT_EQ(picked[0], a < b ? T(1) : T(2));
      EXPECT_EQ(picked[kLanes - 1], select(lt(a, b), T(1), T(2)));
    }
  EXPECT_EQ(get_lane(to_bool(splat(T(0))), 0), false);
  EXPECT_EQ(get_lane(to_bool(splat(T(2))), 0), true);
}

SN_TEST(ComparisonsAndSelect) {
  check_comparisons<f32>();
  check_comparisons<f64>();
  check_comparisons<i32>();
  check_comparisons<i64>();
  EXPECT_TRUE(get_lane(to_bool(splat((f32)kNan)), 0));
  EXPECT_TRUE(to_bool(kNan));
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      boolv va = splat(a), vb = splat(b);
      EXPECT_EQ(get_lane(logical_and(va, vb), 0), a && b);
      EXPECT_EQ(get_lane(logical_or(va, vb), 0), a || b);
      EXPECT_EQ(get_lane(logical_xor(va, vb), 0), a != b);
      EXPECT_EQ(get_lane(logical_not(va), 0), !a);
      EXPECT_EQ(get_lane(lt(va, vb), 0), a < b);
      EXPECT_EQ(get_lane(ge(va, vb), 0), a >= b);
      EXPECT_EQ(get_lane(eq(va, vb), 0), a == b);
      EXPECT_EQ(get_lane(select(va, vb, logical_not(vb)), 0), a ? b : !b);
      EXPECT_EQ(get_lane(maximum(va, vb), 0), a || b);
      EXPECT_EQ(minimum(a, b), a && b);
    }
}

SN_TEST(TestsForNanAndInfinity) {
  for (f64 x : {0.0, 1.0, -1e300, kInf, -kInf, kNan, -kNan}) {
    EXPECT_EQ(sn::isnan(x), std::isnan(x));
    EXPECT_EQ(get_lane(sn::isnan(splat(x)), 1), std::isnan(x));
    EXPECT_EQ(get_lane(sn::isinf(splat(x)), 1), std::isinf(x));
    EXPECT_EQ(get_lane(sn::isfinite(splat(x)), 1), std::isfinite(x));
    EXPECT_EQ(sn::isinf((f32)x), std::isinf((f32)x));
    EXPECT_EQ(get_lane(sn::isinf(splat((f32)x)), 1), std::isinf((f32)x));
    EXPECT_EQ(get_lane(sn::isfinite(splat((f32)x)), 1), std::isfinite((f32)x));
  }
}

template <class T>
void check_conversions() {
  for (T x : {T(0), T(1), T(-1), T(100), T(-77)}) {
    EXPECT_EQ(get_lane(to_f32(splat(x)), 1), (f32)x);
    EXPECT_EQ(get_lane(to_f64(splat(x)), 1), (f64)x);
    EXPECT_EQ(get_lane(to_i32(splat(x)), 1), (i32)x);
    EXPECT_EQ(get_lane(to_i64(splat(x)), 1), (i64)x);
    EXPECT_EQ(get_lane(to_bool(splat(x)), 1), x != 0);
    EXPECT_EQ(to_f32(x), (f32)x);
    EXPECT_EQ(to_i64(x), (i64)x);
  }
}

SN_TEST(Conversions) {
  check_conversions<f32>();
  check_conversions<f64>();
  check_conversions<i32>();
  check_conversions<i64>();
  EXPECT_EQ(get_lane(to_f32(splat(true)), 1), 1);
  EXPECT_EQ(get_lane(to_i64(splat(true)), 1), 1);
  EXPECT_FALSE(std::signbit(get_lane(to_f64(splat(false)), 1)));
  EXPECT_EQ(get_lane(to_i32(splat(-2.9f)), 0), -2);
  EXPECT_TRUE(std::signbit(get_lane(splat(-0.0f), 0)));
  EXPECT_EQ(lanes_of(splat<i64v>(3)), lanes_of(splat(i64{3})));
  for (int i = 0; i < kLanes; ++i) {
    EXPECT_EQ(get_lane(iota_i32(), i), i);
    EXPECT_EQ(get_lane(iota_i64(), i), i);
  }
}

SN_TEST(RangesOfFloatsAreRoundedOnce) {
  constexpr i64 kTop = i64{1} << 31;
  for (i64 start :
       {i64{0}, i64{-5}, i64{16777215}, kTop - 1, -kTop, kTop, kTop - kLanes, 3 * kTop, -5 * kTop})
    for (i64 step : {i64{1}, i64{-1}, i64{7}, i64{0}, kTop / 4, -kTop / 2, kTop + 1, 3 * kTop + 1})
      for (int i = 0; i < kLanes; ++i)
        EXPECT_EQ(get_lane(range_f32(start, step), i), (f32)(start + i * step))
            << start << " " << step;
}

}  // namespace

#include "tests/kernels/cpu_vocabulary_memory.h"
#include "tests/kernels/cpu_vocabulary_patterns.h"
#include "tests/kernels/cpu_vocabulary_special.h"
