// Math functions of generated CPU kernels around calls of libmvec: logarithms, inverse and
// hyperbolic functions, erf, for f32, f64, f32v and f64v. Needs types.h and math_call.h, which says
// why lanes are replaced. Error bounds stand in tests/kernels/cpu_vocabulary_test.cpp.

namespace sn {

SN_CALL1(expm1)
SN_CALL1(log)
SN_CALL1(log2)
SN_CALL1(log10)
SN_CALL1(log1p)
SN_CALL1(asin)
SN_CALL1(acos)
SN_CALL1(atan)
SN_CALL1(sinh)
SN_CALL1(cosh)
SN_CALL1(asinh)
SN_CALL1(acosh)
SN_CALL1(atanh)
SN_CALL1(erf)
SN_CALL1(erfc)

// e^x overflows late: it is (e^(x/2))^2 where |x| is large. Beyond `most` that is infinite, too.
// Where |x| is small, 1/2 is: halving denormals is slow.
template <class V>
SN_INLINE V half_of_large(V x, V m) {
  V one = V{} + 1, most = either<V>(110, 760);
  return with_sign(m > most ? most : m > one ? m : one, x) * 0.5f;
}
SN_GUARDED(expm1, is_within(m, negligible<V>(), either<V>(80, 700)),
           x > V{} ? half_of_large(x, m) : one,
           m<one ? x : x> V{} ? (y + 1) * (y + 1)
           : x < V{}          ? -one
                              : x)
SN_GUARDED(sinh, is_within(m, small<V>(), either<V>(80, 700)), half_of_large(x, m),
           m > one ? 2 * y * magnitude(y) : x)
SN_GUARDED(cosh, is_within(m, small<V>(), either<V>(80, 700)), half_of_large(x, m),
           m > one   ? 2 * y * y
           : m < one ? one
                     : x)

// The logarithm of a denormal's digits, and that of the least denormal.
template <class V>
SN_INLINE auto is_denormal(V x) {  // and positive
  return (x > V{}) & (x < either<V>(0x1p-126, 0x1p-1022));
}
#define SN_LOGARITHM(name, least_narrow, least_wide)                            \
  SN_GUARDED(name, (x >= either<V>(0x1p-126, 0x1p-1022)) & (x < infinity<V>()), \
             is_denormal(x) ? denormal_digits(x) : one,                         \
             is_denormal(x) ? y + either<V>(least_narrow, least_wide)           \
             : x == V{}     ? -infinity<V>()                                    \
             : x > V{}      ? x                                                 \
                            : not_a_number<V>())
SN_LOGARITHM(log, -103.27892990343184, -744.4400719213812)
SN_LOGARITHM(log2, -149, -1074)
SN_LOGARITHM(log10, -44.85346923619926, -323.3062153431158)
#undef SN_LOGARITHM

// The calls are slow for the greatest numbers, too.
template <class V>
SN_INLINE auto is_huge(V x) {
  return (x > V{} + 1) & (x < infinity<V>());
}
template <class V>
SN_INLINE V huge_part(V m) {  // finite, and computed of no denormal
  V one = V{} + 1, most = either<V>(0x1.fffffep127, 0x1.fffffffffffffp1023);
  return magnitude(m > one ? m < most ? m : most : one) * 0x1p-40f;
}
SN_GUARDED(log1p, (x > -one) & (m >= negligible<V>()) & (x < either<V>(0x1p120, 0x1p1000)),
           huge_part(m),
           is_huge(x)  ? y + splat<V>(27.725887222397812)
           : x == -one ? -infinity<V>()
           : x > -one  ? x
                       : not_a_number<V>())

SN_GUARDED(asin, is_within(m, small<V>(), one), one, m < one ? x : not_a_number<V>())
SN_GUARDED(acos, is_within(m, negligible<V>(), one), one,
           m < one ? splat<V>(1.5707963267948966) : not_a_number<V>())
SN_GUARDED(atan, is_within(m, small<V>(), either<V>(0x1p26, 0x1p55)), one,
           m > one ? with_sign(splat<V>(1.5707963267948966), x) : x)
SN_GUARDED(asinh, (m >= small<V>()) & (m < infinity<V>()), one, x)
SN_GUARDED(acosh, (x > one) & (x < infinity<V>()), one + one,
           x == one  ? V{}
           : x > one ? x
                     : not_a_number<V>())
SN_GUARDED(atanh, (m >= small<V>()) & (m < one), one * 0.5f,
           m < one    ? x
           : m == one ? with_sign(infinity<V>(), x)
                      : not_a_number<V>())
SN_GUARDED(erf, is_within(m, small<V>(), one * 10), one,
           m > one   ? with_sign(one, x)
           : m < one ? x * splat<V>(1.1283791670955126)
                     : x)
SN_GUARDED(erfc, (x < either<V>(10.06, 27.24)) & (m >= negligible<V>()) & (m < one * 30), one,
           x > one    ? V{}
           : x < -one ? one + one
           : m < one  ? one
                      : x)
SN_CALL2(atan2)
// By the angle of the octant: atan of at most 1, which neither overflows nor is out of range.
template <class V>
SN_INLINE V special_atan2(V y, V x) {
  V ax = magnitude(x), ay = magnitude(y);
  V high = ax > ay ? ax : ay, low = ax > ay ? ay : ax;
  V t = atan(high == V{} ? V{} : low == high ? V{} + 1 : low / high);
  t = ay > ax ? splat<V>(1.5707963267948966) - t : t;
  t = with_sign(V{} + 1, x) < V{} ? splat<V>(3.141592653589793) - t : t;
  return (x != x) | (y != y) ? x + y : with_sign(t, y);
}
template <class V>
SN_INLINE V atan2(V y, V x) {
  V least = either<V>(0x1p-20, 0x1p-40), most = either<V>(0x1p20, 0x1p40);
  auto usual = is_within(magnitude(x), least, most) & is_within(magnitude(y), least, most);
  return __builtin_expect(!any_lane(~usual), 1) ? call_atan2(y, x) : special_atan2(y, x);
}

}  // namespace sn
