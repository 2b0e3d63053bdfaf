// Integer pow for generated CPU kernels, for i32, i64, i32v and i64v: exact except for wrapping. A
// negative exponent gives 0, unless the base is 1 or -1. Needs types.h.

namespace sn {

template <class T, class U>
SN_INLINE T whole_pow(T base, T exponent) {
  if (exponent < 0 && base != 1 && base != -1) return 0;
  U factor = (U)base, power = 1;
  // For 1 and -1, whose squares are 1, only the last bit matters, also for negative exponents.
  for (U rest = (U)exponent; rest != 0 && factor != 1; rest >>= 1, factor *= factor)
    if (rest & 1) power *= factor;
  return (T)power;
}
SN_INLINE i32 pow(i32 a, i32 b) { return whole_pow<i32, u32>(a, b); }
SN_INLINE i64 pow(i64 a, i64 b) { return whole_pow<i64, u64>(a, b); }
SN_INLINE i32v pow(i32v a, i32v b) {
  i32v r;
  for (int i = 0; i < SN_LANES; ++i) r[i] = pow(a[i], b[i]);
  return r;
}
SN_INLINE i64v pow(i64v a, i64v b) {
  i64v r;
  for (int i = 0; i < SN_LANES; ++i) r[i] = pow(a[i], b[i]);
  return r;
}

}  // namespace sn
