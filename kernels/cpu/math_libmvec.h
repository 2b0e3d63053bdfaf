// Math functions of generated CPU kernels around calls of libmvec: inverse functions and erf, for
// f32, f64, f32v and f64v. Needs types.h and math_call.h, which says why lanes are replaced. Error
// bounds stand in tests/kernels/cpu_vocabulary_test.cpp.

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
