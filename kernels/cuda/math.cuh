// Math functions for generated GPU kernels, on one element or a vector. f32 is accurate to a few
// ulps, exp(a) to 2 + |a| ulps; NaN propagates; integer division never traps. Needs types.cuh,
// primitives. SN_NARROW_RESULTS: all results are rounded to 16 bits, so the hardware sine and
// cosine are accurate enough.

namespace sn {

SN_INLINE f32 maximum(f32 a, f32 b) { return fmax_nan(a, b); }
SN_INLINE f32 minimum(f32 a, f32 b) { return fmin_nan(a, b); }
SN_INLINE f64 maximum(f64 a, f64 b) { return a != a || a > b ? a : b; }
SN_INLINE f64 minimum(f64 a, f64 b) { return a != a || a < b ? a : b; }
SN_INLINE i32 maximum(i32 a, i32 b) { return a > b ? a : b; }
SN_INLINE i32 minimum(i32 a, i32 b) { return a < b ? a : b; }
SN_INLINE i64 maximum(i64 a, i64 b) { return a > b ? a : b; }
SN_INLINE i64 minimum(i64 a, i64 b) { return a < b ? a : b; }
SN_INLINE bool maximum(bool a, bool b) { return a | b; }
SN_INLINE bool minimum(bool a, bool b) { return a & b; }

template <class T>
SN_INLINE bool isnan(T a) {
  return a != a;
}
template <class T>
SN_INLINE bool isfinite(T a) {
  return a - a == T(0);
}
template <class T>
SN_INLINE bool isinf(T a) {
  return a == a && a - a != T(0);
}

SN_INLINE f32 abs(f32 a) { return fabsf(a); }
SN_INLINE f64 abs(f64 a) { return fabs(a); }
SN_INLINE i32 abs(i32 a) { return a < 0 ? (i32)(0u - (u32)a) : a; }
SN_INLINE i64 abs(i64 a) { return a < 0 ? (i64)(0ull - (u64)a) : a; }

#define SN_CALL(name, single, twice)           \
  SN_INLINE f32 name(f32 a) { return single(a); } \
  SN_INLINE f64 name(f64 a) { return twice(a); }
SN_CALL(floor, ::floorf, ::floor)
SN_CALL(ceil, ::ceilf, ::ceil)
SN_CALL(round, ::rintf, ::rint)
SN_CALL(trunc, ::truncf, ::trunc)
SN_CALL(sqrt, ::sqrtf, ::sqrt)
SN_CALL(exp2, ::exp2f, ::exp2)
SN_CALL(expm1, ::expm1f, ::expm1)
SN_CALL(log, ::logf, ::log)
SN_CALL(log2, ::log2f, ::log2)
SN_CALL(log10, ::log10f, ::log10)
SN_CALL(log1p, ::log1pf, ::log1p)
SN_CALL(tan, ::tanf, ::tan)
SN_CALL(asin, ::asinf, ::asin)
SN_CALL(acos, ::acosf, ::acos)
SN_CALL(atan, ::atanf, ::atan)
SN_CALL(sinh, ::sinhf, ::sinh)
SN_CALL(cosh, ::coshf, ::cosh)
SN_CALL(asinh, ::asinhf, ::asinh)
SN_CALL(acosh, ::acoshf, ::acosh)
SN_CALL(atanh, ::atanhf, ::atanh)
SN_CALL(erf, ::erff, ::erf)
SN_CALL(erfc, ::erfcf, ::erfc)
#undef SN_CALL

// Two instructions; one more digit would take eight, and softmax rows wait for these exponentials.
SN_INLINE f32 exp(f32 a) { return fast_exp2(a * 1.442695041f); }
SN_INLINE f64 exp(f64 a) { return ::exp(a); }

// A polynomial near 0, where 1 - 2 / (1 + exp(2a)) would lose digits. Both are computed without a
// branch, which would diverge within a warp.
SN_INLINE f32 tanh(f32 a) {
  const f32 size = ::fabsf(a);
  const f32 far = ::fmaf(-2.f, fast_reciprocal(1.f + fast_exp2(size * 2.885390082f)), 1.f);
  const f32 square = a * a;
  f32 near = ::fmaf(square, -0.00593297975f, 0.0208813176f);
  near = ::fmaf(square, near, -0.0538258478f);
  near = ::fmaf(square, near, 0.133326009f);
  near = ::fmaf(square, near, -0.333333284f);
  near = ::fmaf(square * a, near, a);
  return ::copysignf(size < 0.65f ? near : far, a);  // of a zero, too
}
SN_INLINE f64 tanh(f64 a) { return ::tanh(a); }

// CUDA's sinf and cosf inline a reduction for huge arguments at every call. Up to this limit a
// three-part reduction by pi/2 is accurate enough; beyond it, which is rare, they are called.
inline constexpr f32 kLargestReduced = 48000.f;

SN_RARE f32 sin_of_huge(f32 a) { return ::sinf(a); }
SN_RARE f32 cos_of_huge(f32 a) { return ::cosf(a); }

// Adding this to a number below 2^22 leaves no fraction bits, and the integer's last bits as the
// sum's last bits, without conversion instructions.
inline constexpr f32 kWhole = 12582912.f;

// a - quadrant * pi/2, within pi/4 of 0.
SN_INLINE f32 reduced_angle(f32 a, u32& quadrant) {
  const f32 sum = ::fmaf(a, 0.636619772f, kWhole);
  quadrant = bits_of(sum);
  const f32 turns = sum - kWhole;
  f32 rest = ::fmaf(turns, -1.5707962513f, a);
  rest = ::fmaf(turns, -7.5497894159e-08f, rest);
  return ::fmaf(turns, -5.3903029534e-15f, rest);
}
SN_INLINE f32 sin_or_cos(f32 angle, u32 quadrant) {
  const f32 square = angle * angle;
  f32 sine = ::fmaf(square, -1.9515295891e-4f, 8.3321608736e-3f);
  sine = ::fmaf(square, sine, -1.6666654611e-1f);
  sine = ::fmaf(square * sine, angle, angle);
  f32 cosine = ::fmaf(square, 2.443315711809948e-5f, -1.388731625493765e-3f);
  cosine = ::fmaf(square, cosine, 4.166664568298827e-2f);
  cosine = ::fmaf(square, cosine, -0.5f);
  cosine = ::fmaf(square, cosine, 1.f);
  const f32 result = quadrant & 1 ? cosine : sine;
  return quadrant & 2 ? -result : result;
}
#if SN_NARROW_RESULTS
// a modulo 2 pi, within pi of 0.
SN_INLINE f32 without_turns(f32 a) {
  const f32 turns = ::fmaf(a, 0.159154943f, kWhole) - kWhole;
  return ::fmaf(turns, -3.019915825e-07f, ::fmaf(turns, -6.283185005f, a));
}
SN_INLINE f32 sin_of_most(f32 a) {
  // Small angles, where an error of 2^-20 would be too large.
  const f32 near = a * ::fmaf(a * a, -0.166666667f, 1.f);
  return ::fabsf(a) < 0.015625f ? near : fast_sin(without_turns(a));
}
SN_INLINE f32 cos_of_most(f32 a) { return fast_cos(without_turns(a)); }
#else
SN_INLINE f32 sin_of_most(f32 a) {
  u32 quadrant;
  const f32 angle = reduced_angle(a, quadrant);
  return a == 0 ? a : sin_or_cos(angle, quadrant);  // keeps the sign of a zero
}
SN_INLINE f32 cos_of_most(f32 a) {
  u32 quadrant;
  const f32 angle = reduced_angle(a, quadrant);
  return sin_or_cos(angle, quadrant + 1);
}
#endif
SN_INLINE bool is_huge(f32 a) { return !(::fabsf(a) <= kLargestReduced); }  // or NaN
SN_INLINE f64 sin(f64 a) { return ::sin(a); }
SN_INLINE f64 cos(f64 a) { return ::cos(a); }

// For one angle, and for V angles in place: the same bits, with one branch and one call for all of
// them. The call gets copies, so that the others can stay in registers.
#define SN_OF_ANGLES(name)                                                         \
  SN_INLINE f32 name(f32 a) {                                                      \
    f32 result = name##_of_most(a);                                                \
    if (is_huge(a)) result = name##_of_huge(a);                                    \
    return result;                                                                 \
  }                                                                                \
  SN_RARE void name##_of_huge_ones(const f32* angles, f32* results, i32 count) {   \
    for (i32 v = 0; v < count; ++v)                                                \
      if (is_huge(angles[v])) results[v] = name##_of_huge(angles[v]);              \
  }                                                                                \
  template <int V>                                                                 \
  SN_INLINE void name##_of_all(f32* angles) {                                      \
    f32 results[V];                                                                \
    bool some_huge = false;                                                        \
    SN_UNROLL                                                                      \
    for (int v = 0; v < V; ++v) {                                                  \
      results[v] = name##_of_most(angles[v]);                                      \
      some_huge |= is_huge(angles[v]);                                             \
    }                                                                              \
    if (some_huge) {                                                               \
      f32 from[V], to[V];                                                          \
      SN_UNROLL                                                                    \
      for (int v = 0; v < V; ++v) from[v] = angles[v], to[v] = results[v];         \
      name##_of_huge_ones(from, to, V);                                            \
      SN_UNROLL                                                                    \
      for (int v = 0; v < V; ++v) results[v] = to[v];                              \
    }                                                                              \
    SN_UNROLL                                                                      \
    for (int v = 0; v < V; ++v) angles[v] = results[v];                            \
  }
SN_OF_ANGLES(sin)
SN_OF_ANGLES(cos)
#undef SN_OF_ANGLES

SN_INLINE f32 pow(f32 a, f32 b) { return ::powf(a, b); }
SN_INLINE f64 pow(f64 a, f64 b) { return ::pow(a, b); }

// Exact for integers except for wrapping. A negative exponent gives 0, unless the base is 1 or -1,
// where only the exponent's last bit matters.
template <class T, class U>
SN_INLINE T whole_pow(T base, T exponent) {
  if (exponent < 0 && base != 1 && base != -1) return 0;
  U factor = (U)base, power = 1;
  for (U rest = (U)exponent; rest != 0 && factor != 1; rest >>= 1, factor *= factor)
    if (rest & 1) power *= factor;
  return (T)power;
}
SN_INLINE i32 pow(i32 a, i32 b) { return whole_pow<i32, u32>(a, b); }
SN_INLINE i64 pow(i64 a, i64 b) { return whole_pow<i64, u64>(a, b); }
SN_INLINE f32 atan2(f32 a, f32 b) { return ::atan2f(a, b); }
SN_INLINE f64 atan2(f64 a, f64 b) { return ::atan2(a, b); }
SN_INLINE f32 fma(f32 a, f32 b, f32 c) { return ::fmaf(a, b, c); }
SN_INLINE f64 fma(f64 a, f64 b, f64 c) { return ::fma(a, b, c); }

template <class T>
SN_INLINE T reciprocal(T a) {
  return T(1) / a;
}
template <class T>
SN_INLINE T rsqrt(T a) {
  return T(1) / sqrt(a);
}
SN_INLINE f32 sigmoid(f32 a) { return fast_reciprocal(1.f + exp(-a)); }
// exp(-a) would overflow before the result does.
SN_INLINE f64 sigmoid(f64 a) {
  const f64 power = exp(-::fabs(a));
  return (a < 0 ? power : 1.) / (1 + power);
}

// Divided in 32 bits if possible: a GPU has no integer divider, and 64 bits take many more
// instructions.
SN_INLINE bool fit_32_bits(i64 a, i64 b) { return ((u64)(a | b) >> 32) == 0; }

// Python's rules: the quotient is rounded down, the remainder has the divisor's sign. Integer
// division by zero gives 0 (and remainder 0); the smallest integer divided by -1 wraps.
template <class T>
SN_INLINE T whole_floor_div(T a, T b) {
  if (b == 0) return 0;
  if (sizeof(T) == 8 && fit_32_bits(a, b)) return (u32)a / (u32)b;
  if (b == -1) return (T)(0ull - (u64)a);
  const T q = a / b;
  return q - ((a % b != 0) & ((a ^ b) < 0));
}
template <class T>
SN_INLINE T whole_remainder(T a, T b) {
  if (b == 0 || b == -1) return 0;
  if (sizeof(T) == 8 && fit_32_bits(a, b)) return (u32)a % (u32)b;
  const T r = a % b;
  return r != 0 && (r ^ b) < 0 ? r + b : r;
}
SN_INLINE f32 truncated_remainder(f32 a, f32 b) { return ::fmodf(a, b); }
SN_INLINE f64 truncated_remainder(f64 a, f64 b) { return ::fmod(a, b); }
template <class T>
SN_INLINE T real_remainder(T a, T b) {
  const T r = truncated_remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
template <class T>
SN_INLINE T real_floor_div(T a, T b) {
  if (b == 0) return a / b;
  const T r = truncated_remainder(a, b);
  const T q = (a - r) / b - (r != 0 && (r < 0) != (b < 0));
  const T down = floor(q);
  return down + (q - down > T(0.5));
}
SN_INLINE i32 floor_div(i32 a, i32 b) { return whole_floor_div(a, b); }
SN_INLINE i64 floor_div(i64 a, i64 b) { return whole_floor_div(a, b); }
SN_INLINE f32 floor_div(f32 a, f32 b) { return real_floor_div(a, b); }
SN_INLINE f64 floor_div(f64 a, f64 b) { return real_floor_div(a, b); }

// A number of 31 bits divided by a positive one, by multiplying with the divisor's `inverse`
// (src/runtime/gpu_argument.h), whose upper half is `high`.
SN_INLINE idx times_inverse(u32 number, u32 high, u64 inverse) {
  const u32 product = (u32)((u64)number * (u32)inverse >> 32) + (high & 1 ? number : 0);
  return (idx)(product >> (high >> 8));
}
SN_INLINE idx positive_quotient(idx a, u64 inverse) {
  return times_inverse((u32)a, (u32)(inverse >> 32), inverse);
}
// a / b for a program id or such a quotient. There is no inverse of a large or negative b, and an
// earlier divisor may have been negative.
SN_RARE idx quotient_without_inverse(idx a, idx b) { return floor_div(a, b); }
SN_INLINE idx quotient(idx a, idx b, u64 inverse) {
  const u32 number = (u32)a, high = (u32)(inverse >> 32);
  if ((i32)(high | number) < 0) return quotient_without_inverse(a, b);
  return times_inverse(number, high, inverse);
}

SN_INLINE i32 remainder(i32 a, i32 b) { return whole_remainder(a, b); }
SN_INLINE i64 remainder(i64 a, i64 b) { return whole_remainder(a, b); }
SN_INLINE f32 remainder(f32 a, f32 b) { return real_remainder(a, b); }
SN_INLINE f64 remainder(f64 a, f64 b) { return real_remainder(a, b); }

}  // namespace sn
