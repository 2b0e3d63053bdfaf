// pow of generated CPU kernels, for f32, f64, f32v and f64v: a call of libmvec for ordinary lanes.
// Needs types.h, math.h, math_call.h, which says why lanes are replaced, and math_exp.h. Error
// bounds stand in tests/kernels/cpu_vocabulary_test.cpp.

namespace sn {

SN_CALL2(pow)

// log2 of positive x within a hundredth, and at most 8% off: 0 for 1 only.
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
  V power = b * exponent;  // log2 of the result, about
  auto called = regular & (magnitude(power) < either<V>(200, 1900));
  auto large = called & (magnitude(power) > either<V>(110, 980));
  V half = called ? large ? b * 0.5f : b : one;
  V y = call_pow(called ? scaled : one, half);
  if (any_lane(called & denormal)) y = denormal ? y * exp2(-shift * half) : y;
  y = large ? y * y : y;  // the square of the root neither overflows nor is denormal on the way
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

}  // namespace sn
