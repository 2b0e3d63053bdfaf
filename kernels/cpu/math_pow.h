// pow for generated CPU kernels, for f32, f64, f32v and f64v: a call of libmvec for ordinary lanes;
// with FMA, f32v is computed in f64 instead. Needs types.h, math.h, math_call.h (which explains why
// lanes are replaced), math_exp.h and math_log.h. Error bounds are in
// tests/kernels/cpu_vocabulary_test.cpp.

namespace sn {

SN_CALL2(pow)

// log2 of positive x to within 0.01 and 8%; 0 for 1 only.
SN_INLINE f32v about_log2(f32v x) {
  i32v bits = (i32v)x;
  f32v m = (f32v)((bits & 0x7fffff) | 0x3f800000) - 1.0f;
  f32v n = __builtin_convertvector((bits >> 23) - 127, f32v);
  return n + (m + m * (1.0f - m) * 0.346f);
}
SN_INLINE f64v about_log2(f64v x) {
  i64v bits = (i64v)x;
  f64v m = (f64v)((bits & 0xfffffffffffff) | 0x3ff0000000000000) - 1.0;
  f64v n = (f64v)((bits >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
  return n + (m + m * (1.0 - m) * 0.346);
}

// The cases of C's pow: zeros, infinities, NaN, negative and denormal a, results that overflow or
// are denormal.
template <class V>
SN_INLINE V special_pow(V a, V b) {
  V one = V{} + 1, m = magnitude(a), shift = either<V>(32, 64), least = either<V>(0x1p-40, 0x1p-70);
  b = (magnitude(b) < least) & (b != V{}) ? with_sign(least, b) : b;
  auto denormal = m < either<V>(0x1p-126, 0x1p-1022);
  auto regular = (m > V{}) & (m < infinity<V>());
  V scaled = denormal ? denormal_digits(m) * either<V>(0x1p-117, 0x1p-1010) : m;  // m 2^shift
  V exponent = about_log2(scaled) - (denormal ? shift : V{});
  exponent = regular ? exponent : m == V{} ? V{} - 1e30f : V{} + 1e30f;
  V power = b * exponent;  // approximate log2 of the result
  auto called = regular & (magnitude(power) < either<V>(200, 1900));
  auto large = called & (magnitude(power) > either<V>(110, 980));
  V half = called ? large ? b * 0.5f : b : one;
  V y = call_pow(called ? scaled : one, half);
  if (any_lane(called & denormal)) y = called & denormal ? y * exp2(-shift * half) : y;
  y = large ? y * y : y;  // squaring the root neither overflows nor becomes denormal in between
  y = called | (b == V{}) | (m == one) ? y : power > V{} ? infinity<V>() : V{};
  V halved = b * 0.5f;
  auto whole = trunc(b) == b;
  y = whole & (trunc(halved) != halved) ? with_sign(y, a) : y;
  auto undefined = (a < V{}) & regular & ~whole;
  auto unknown = ((a != a) & (b != V{})) | ((b != b) & (a != one));
  return undefined | unknown ? not_a_number<V>() : y;
}
template <class V>
SN_INLINE V pow(V a, V b) {
  auto usual = is_within(a, either<V>(0x1p-120, 0x1p-1000), either<V>(0x1p120, 0x1p1000)) &
               (magnitude(b * about_log2(a)) < either<V>(110, 980)) &
               (magnitude(b) > either<V>(0x1p-40, 0x1p-70));
  if (__builtin_expect(any_lane(~usual), 0)) return special_pow(a, b);
  return call_pow(a, b);
}

#ifdef __FMA__

// 2^(b log2(a)) for non-negative a. f64 has so many more digits than f32 that the product need not
// be exact, and enough range for every result.
SN_INLINE f32_of_part pow_of_wide(f32_of_part narrow_a, f32_of_part narrow_b) {
  f64part a = __builtin_convertvector(narrow_a, f64part);
  f64part b = __builtin_convertvector(narrow_b, f64part);
  auto [n, f] = split_normal(a);
  f64part s = f / (f + 2);
  f64part of_mantissa = series(s * s, 2.885390081777417, 0.9617966948360859, 0.5770777532427313,
                               0.4122263533189363, 0.3192794616724718, 0.2908913810770259);
  f64part power = b * log_or_special(mul_add(s, of_mantissa, n), a);
  power = greatest(splat<f64part>(-300), least(splat<f64part>(300), power));
  f64part whole = (power + 0x1.8p52) - 0x1.8p52;
  f64part y = series(power - whole, 0.99999999995947, 0.6931471805349886, 0.24022651214314644,
                     0.05550410976236768, 0.00961802550964891, 0.0013333422538522593,
                     0.0001546976127606906, 1.5316487114533108e-05);
  return __builtin_convertvector(y * power_of_two(whole), f32_of_part);
}
SN_INLINE f32part f32_pow_of_part(f32part a, f32part b) {
  f32part m = magnitude(a), one = f32part{} + 1;
#if SN_F32_PART > SN_F64_PART
  f32part y = of_halves(pow_of_wide(first_half(m), first_half(b)),
                        pow_of_wide(second_half(m), second_half(b)));
#else
  f32part y = (f32part)pow_of_wide((f32_of_part)m, (f32_of_part)b);
#endif
  f32part large = magnitude(b) < one ? one * 0.5f : b, half = large * 0.5f;
  auto fraction = trunc(large) != large;
  y = ((Bits<f32part>)a < Bits<f32part>{}) & ~fraction & (trunc(half) != half) ? -y : y;
  y = (a < f32part{}) & (m < infinity<f32part>()) & fraction ? not_a_number<f32part>() : y;
  auto is_one =
      (b == f32part{}) | (a == one) | ((m == one) & (magnitude(b) == infinity<f32part>()));
  return is_one ? one : y;
}
SN_IN_PARTS2(f32_pow)
SN_INLINE f32v pow(f32v a, f32v b) { return f32_pow(a, b); }

#endif

}  // namespace sn
