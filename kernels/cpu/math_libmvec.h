// Functions for generated CPU kernels around calls of libmvec: inverse functions and erf, for f32,
// f64, f32v and f64v. Needs types.h and math_call.h, which explains why lanes are replaced. Error
// bounds are in tests/kernels/cpu_vocabulary_test.cpp.

namespace sn {

SN_CALL1(asin)
SN_CALL1(acos)
SN_CALL1(atan)
SN_CALL1(asinh)
SN_CALL1(acosh)
SN_CALL1(atanh)
SN_CALL1(erf)
SN_CALL1(erfc)

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

// v times 2^100 (f32) or 2^600 (f64), for small v: for a denormal its digits are multiplied, since
// processors multiply denormals slowly.
template <class P>
SN_INLINE P raised(P v) {
  auto denormal = v < either<P>(0x1p-126, 0x1p-1022);
  P digits = denormal_digits(v) * either<P>(0x1p-49, 0x1p-474);
  return denormal ? digits : (denormal ? P{} + 1 : v) * either<P>(0x1p100, 0x1p600);
}
// The inverse. A denormal result is the integer of its bit pattern, rounded as such.
template <class P>
SN_INLINE P lowered(P v) {
  P unit = either<P>(0x1p23, 0x1p52), digits = v * either<P>(0x1p49, 0x1p474);
  auto denormal = digits < unit;
  P bits = (P)((Bits<P>)(digits + unit) - (Bits<P>)unit);
  return denormal ? bits : (denormal ? P{} + 1 : v) * either<P>(0x1p-100, 0x1p-600);
}
template <class P>
SN_INLINE P atan_below_one(P t) {                      // from 0 to 1
  P some = t < either<P>(0x1p-30, 0x1p-60) ? P{} : t;  // keeps powers from being denormal
  P z = some * some, zz = z * z, even, odd;
  if constexpr (kNarrow<P>) {
    even = series(zz, -0.333331527, -0.142110517, -0.0755218786, -0.0163677986);
    odd = series(zz, 0.199937725, 0.106659905, 0.0432116008, 0.0029206666);
  } else {
    even = series(zz, -0.3333333333333186, -0.1428571427133277, -0.09090901235109816,
                  -0.06665860363677387, -0.05239233302052771, -0.04092641575399057,
                  -0.025826896841173654, -0.009184648890030487, -0.0011640920540864704,
                  -2.0259073373180795e-05);
    odd = series(zz, 0.19999999999754953, 0.11111110678716699, 0.07692212929294254,
                 0.05877307814650452, 0.046739508199356135, 0.03406787821242268,
                 0.016978146413838328, 0.0038560268105312765, 0.00022302720483666208);
  }
  return mul_add(mul_add(odd, z, even), some * z, t);
}
// From the angle within the octant. Where the quotient is barely normal or less, it is computed
// from a scaled operand if it is the result, and otherwise taken as 0.
template <class P>
SN_INLINE P atan2_of_part(P y, P x) {
  P ax = magnitude(x), ay = magnitude(y), high = greatest(ax, ay), low = least(ax, ay);
  auto tiny = high < either<P>(0x1p-60, 0x1p-500);
  if (__builtin_expect(any_lane(tiny), 0)) {
    // If both are zero the first is greater.
    P some = greatest(either<P>(0x1p-149, 0x1p-1074), high);
    high = tiny ? raised(tiny ? some : P{}) : high;
    low = tiny ? raised(tiny ? low : P{}) : low;
  }
  auto small = (low <= high * either<P>(0x1p-60, 0x1p-500)) & (low < 4);
  P t = atan_below_one(low == high ? P{} + 1 : (small ? P{} : low) / high);
  auto negative = (Bits<P>)x < Bits<P>{};
  auto result = small & (low > 0) & (ay < (negative ? P{} : ax)) & (high < infinity<P>());
  if (__builtin_expect(any_lane(result), 0))
    t = result ? lowered(raised(result ? low : P{} + 1) / high) : t;
  t = ay > ax ? splat<P>(1.5707963267948966) - t : t;
  t = negative ? splat<P>(3.141592653589793) - t : t;
  return (x == x) & (y == y) ? with_sign(t, y) : x + y;
}
SN_SCALAR2(atan2)
SN_IN_PARTS2(atan2)

}  // namespace sn
