// sin, cos and tan for generated CPU kernels. With FMA they are implemented for vectors, and
// without it large f32 angles are; the rest are calls. Needs types.h and math_call.h, which
// explains why lanes are replaced. Error bounds are in tests/kernels/cpu_vocabulary_test.cpp.

namespace sn {

SN_CALL1(sin)
SN_CALL1(cos)
SN_CALL1(tan)

typedef __attribute__((vector_size(SN_F64_PART * 4))) i32 i32_of_part;
typedef Bits<f64part> i64part;
typedef __attribute__((vector_size(SN_F64_PART * 8))) u64 u64part;

// An angle is n steps plus a rest; the lowest bit of `odd` is that of n. A step is pi / `parts`,
// and n is an integer minus `offset`.
template <class P>
struct Reduced {
  P rest;
  Bits<P> odd;
};
struct AngleStep {
  f64 parts, offset;
};
constexpr AngleStep kSinStep = {1, 0}, kCosStep = {1, 0.5}, kTanStep = {2, 0};

template <class P>
SN_INLINE P fused(P a, P b, P c) {
#ifdef __FMA__
  return mul_add(a, b, c);
#else
  P r;
  for (unsigned i = 0; i < sizeof(P) / sizeof(a[0]); ++i) r[i] = __builtin_fma(a[i], b[i], c[i]);
  return r;
#endif
}
// Up to this limit x - n pi is exact except for the last rounding: pi has three parts, the first
// product is exact, and fma rounds once for each of the others.
template <class P>
SN_INLINE P far(AngleStep step) {  // beyond this, an f32 n is less exact
  return either<P>(step.parts == 1 ? 0x1.8p20 : 0x1p18, 0x1p40);
}
template <class P>
SN_INLINE Reduced<P> near_angle(P x, AngleStep step) {
  P shift = either<P>(0x1.8p23, 0x1.8p52), inverse = splat<P>(0.3183098861837907 * step.parts);
  P odd = mul_add(x, inverse, step.offset) + shift;
  if (step.offset == 0) odd = mul_add(x, inverse, shift);
  P n = (odd - shift - splat<P>(step.offset)) * splat<P>(1 / step.parts);
  P rest = fused(n, either<P>(-3.14159250259399414, -0x1.921fb54442d18p1), x);
  rest = fused(n, either<P>(-1.50995788317231927e-07, -0x1.1a62633145c07p-53), rest);
  return {fused(n, either<P>(-1.07806057e-14, 0x1.f1976b7ed8fbcp-109), rest), (Bits<P>)odd};
}
// 2^(16 i - 23) / pi modulo 2: 29 bits, the next 29, and the next 53.
constexpr f64 kInversePi[3][8] = {
    {0x1.4p-25, 0x1.45f3p-9, 0x1.f306dc8p-1, 0x1.6e4e441p0, 0x1.1054a7cp-2, 0x1.29fc275p0,
     0x1.3abe8f8p-3, 0x1.d1f534dp0},
    {0x1.7cc1b7p-31, 0x1.b72722p-31, 0x1.c882a53p-29, 0x1.4a7f09cp-30, 0x1.84eafa3p-29,
     0x1.f47d4d2p-30, 0x1.4d37702p-30, 0x1.b81b6c5p-29},
    {0x1.391054a7f09d6p-58, 0x1.529fc2757d1f5p-60, 0x1.f09d5f47d4d37p-58, 0x1.5f47d4d377037p-58,
     0x1.d4d377036d8a5p-58, 0x1.77036d8a5664fp-58, 0x1.6d8a5664f10e4p-58, 0x1.5993c439041fep-60}};

SN_INLINE f64part lookup8(const f64* table, u64part index) {  // by the index's low three bits
  f64part r;
#if SN_AVX512 && SN_F64_PART == 8
  __builtin_memcpy(&r, table, sizeof r);
  asm("vpermpd %1, %2, %0" : "=v"(r) : "v"(r), "v"(index));
#else
  for (int i = 0; i < SN_F64_PART; ++i) r[i] = table[index[i] & 7];
#endif
  return r;
}
// Angles that f32 can hold, from 1 on. x = whole 2^(16 i - 23), where whole is a 24-bit integer
// times a power of two, so its products with 29-bit numbers are exact, and full turns can be
// dropped without loss.
SN_INLINE Reduced<f64part> far_narrow_angle(f64part x, AngleStep step) {
  i64part bits = (i64part)x + (i64(1) << 52);  // the exponent's last seven bits are log2 of x
  u64part i = (u64part)bits >> 56;
  f64part whole = (f64part)((i64part)x - (bits & (i64(0x70) << 52))) * (0x1p23 * step.parts);
  i64part odd{};
  auto without_turns = [&](f64part turns, f64 offset) {
    f64part shifted = turns + offset + 0x1.8p52;
    odd += (i64part)shifted;
    return turns - (shifted - 0x1.8p52 - offset);
  };
  f64part rest = without_turns(whole * lookup8(kInversePi[0], i), 0);
  rest += without_turns(whole * lookup8(kInversePi[1], i), 0);
  rest = without_turns(rest, step.offset) + whole * lookup8(kInversePi[2], i);
  return {rest * (3.141592653589793 / step.parts), odd};
}
SN_INLINE Reduced<f32part> far_angle(f32part x, AngleStep step) {
#ifdef __FMA__
  f32part m = magnitude(x);
  bool is_near = !any_lane((m > splat<f32part>(0x1p40)) & (m < infinity<f32part>()));
#else
  const bool is_near = false;
#endif
  auto reduced = [&](f32_of_part half) {
    f64part wide = __builtin_convertvector(half, f64part);
    return is_near ? near_angle(wide, step) : far_narrow_angle(wide, step);
  };
  auto rest = [](Reduced<f64part> r) { return __builtin_convertvector(r.rest, f32_of_part); };
  auto odd = [](Reduced<f64part> r) { return __builtin_convertvector(r.odd, i32_of_part); };
#if SN_F32_PART > SN_F64_PART
  auto first = reduced(first_half(x)), second = reduced(second_half(x));
  return {of_halves(rest(first), rest(second)), of_halves(odd(first), odd(second))};
#else
  auto all = reduced((f32_of_part)x);
  return {(f32part)rest(all), (Bits<f32part>)odd(all)};
#endif
}

template <class P>
SN_INLINE P odd_sign(P y, Bits<P> odd) {  // -y where n is odd
  return (P)((Bits<P>)y ^ (odd << (kNarrow<P> ? 31 : 63)));
}
template <class P>
SN_INLINE P sin_of_rest(Reduced<P> r) {  // |rest| at most slightly above pi / 2
  P z = r.rest * r.rest, p;
  if constexpr (kNarrow<P>)
    p = series(z, -0.166666597, 0.00833306555, -0.000198095397, 2.60563115e-06);
  else
    p = series(z, -0.16666666666666666, 0.008333333333333316, -0.0001984126984125491,
               2.7557319219145404e-06, -2.5052107614654285e-08, 1.60589771567923e-10,
               -7.643965223528751e-13, 2.7313804127648992e-15);
  return odd_sign(mul_add(p * z, r.rest, r.rest), r.odd);
}
template <class P>
SN_INLINE P tan_of_rest(Reduced<P> r) {  // |rest| at most slightly above pi / 4
  P z = r.rest * r.rest, sine, cosine;
  if constexpr (kNarrow<P>) {
    P p = series(z, 3.33331568548e-1, 1.33387994085e-1, 5.34112807005e-2, 2.44301354525e-2,
                 3.11992232697e-3, 9.38540185543e-3);
    sine = mul_add(p * z, r.rest, r.rest), cosine = P{} + 1;  // actually the tangent
  } else {
    P p = series(z, -0.16666666666666666, 0.00833333333333094, -0.00019841269836742975,
                 2.7557316094305608e-06, -2.50511301013144e-08, 1.5918002246573193e-10);
    P q = series(z, 0.041666666666666664, -0.001388888888888739, 2.480158729875576e-05,
                 -2.7557317266493467e-07, 2.087614516327417e-09, -1.138255201887131e-11);
    sine = mul_add(p * z, r.rest, r.rest);
    cosine = mul_add(q * z, z, mul_add(z, -0.5, 1));
  }
  auto odd = (r.odd << (kNarrow<P> ? 31 : 63)) != Bits<P>{};
  return (odd ? -cosine : sine) / (odd ? sine : cosine);
}

#ifdef __FMA__

// Whether a lane is beyond the limit, infinite or NaN: a compare of bit patterns, which more ports
// can execute than a compare of floats.
template <class P>
SN_INLINE bool any_above(P m, P limit) {
  return __builtin_expect(any_greater((Bits<P>)m, (Bits<P>)limit), 0);
}
template <class P>
SN_INLINE Reduced<P> reduced_angle(P x, P m, AngleStep step) {
  Reduced<P> r = near_angle(x, step);
  if constexpr (kNarrow<P>) {
    if (any_above(m, far<P>(step))) {
      auto is_far = (m > far<P>(step)) & (m < infinity<P>());  // infinite ones have become NaN
      if (any_lane(is_far)) {
        Reduced<P> of_far = far_angle(x, step);
        r.rest = is_far ? of_far.rest : r.rest;
        r.odd = is_far ? of_far.odd : r.odd;
      }
    }
  }
  return r;
}
// Small angles are replaced, since their powers would be denormal.
template <class P>
SN_INLINE P inline_sin_of_part(P x) {
  P m = magnitude(x);
  P y = sin_of_rest(reduced_angle(m < small<P>() ? P{} : x, m, kSinStep));
  return m < small<P>() ? x : y;
}
template <class P>
SN_INLINE P inline_cos_of_part(P x) {
  // The rest of a small angle is near pi / 2, so only the product with 1 / pi needs the addition.
  return sin_of_rest(reduced_angle(x + either<P>(0x1p-60, 0x1p-100), magnitude(x), kCosStep));
}
template <class P>
SN_INLINE P inline_tan_of_part(P x) {
  P m = magnitude(x);
  P y = tan_of_rest(reduced_angle(m < small<P>() ? P{} : x, m, kTanStep));
  return m < small<P>() ? x : y;
}

// For f64 the calls handle large angles, lane by lane.
#define SN_ANGLE_FUNCTION(name)                                                         \
  SN_IN_PARTS1(inline_##name)                                                           \
  template <class V>                                                                    \
  SN_INLINE V name(V x) {                                                               \
    V y = inline_##name(x);                                                             \
    if constexpr (!kNarrow<V>) {                                                        \
      auto is_far = (magnitude(x) > far<V>(kSinStep)) & (magnitude(x) < infinity<V>()); \
      if (__builtin_expect(any_lane(is_far), 0))                                        \
        y = is_far ? call_##name(is_far ? x : V{} + 1) : y;                             \
    }                                                                                   \
    return y;                                                                           \
  }
SN_ANGLE_FUNCTION(sin)
SN_ANGLE_FUNCTION(cos)
SN_ANGLE_FUNCTION(tan)
#undef SN_ANGLE_FUNCTION

#else

// The largest angles the calls handle without help.
template <class V>
SN_INLINE V near() {
  return either<V>(1e4, 1e5);
}
#define SN_ANGLE_FUNCTION(name, step, of_rest, least, of_small)                             \
  static __attribute__((noinline)) f32part far_##name##_of_part(f32part x) {                \
    return of_rest(far_angle(x, step));                                                     \
  }                                                                                         \
  static __attribute__((noinline)) f64part far_##name##_of_part(f64part x) {                \
    return of_rest(near_angle(x, step));                                                    \
  }                                                                                         \
  SN_IN_PARTS1(far_##name)                                                                  \
  template <class V>                                                                        \
  SN_INLINE V name(V x) {                                                                   \
    V m = magnitude(x), one = V{} + 1;                                                      \
    auto usual = is_within(m, least<V>(), near<V>());                                       \
    if (__builtin_expect(!any_lane(~usual), 1)) return call_##name(x);                      \
    auto huge = (m > infinity<V>());                                                        \
    if constexpr (!kNarrow<V>) huge = (m > far<V>(kSinStep)) & (m < infinity<V>());         \
    auto is_far = (m > near<V>()) & (m < infinity<V>()) & ~huge;                            \
    V y = m < one ? of_small : not_a_number<V>();                                           \
    if (any_lane(usual | huge)) y = usual | huge ? call_##name(usual | huge ? x : one) : y; \
    if (any_lane(is_far)) y = is_far ? far_##name(is_far ? x : one) : y;                    \
    return y;                                                                               \
  }
SN_ANGLE_FUNCTION(sin, kSinStep, sin_of_rest, small, x)
SN_ANGLE_FUNCTION(cos, kCosStep, sin_of_rest, negligible, one)
SN_ANGLE_FUNCTION(tan, kTanStep, tan_of_rest, small, x)
#undef SN_ANGLE_FUNCTION

#endif

}  // namespace sn
