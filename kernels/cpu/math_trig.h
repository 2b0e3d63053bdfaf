// sin and cos of generated CPU kernels: calls, but inline for 16 f32 lanes with AVX-512, save for
// arguments so large that reducing them takes more. Needs types.h, memory.h and math_call.h.
// Error bounds stand in tests/kernels/cpu_vocabulary_test.cpp.

namespace sn {

SN_MATH1_BUT_F32V(sin)
SN_MATH1_BUT_F32V(cos)

#if SN_AVX512 && SN_LANES == 16 && !defined(SN_NO_LIBMVEC)

extern "C" __attribute__((const, nothrow)) f32v _ZGVeN16v_sinf(f32v);
extern "C" __attribute__((const, nothrow)) f32v _ZGVeN16v_cosf(f32v);

// sin(x - n pi), negated when the lowest bit of `odd` is set; |x - n pi| is at most pi / 2.
SN_INLINE f32v sin_reduced(f32v x, f32v n, f32v odd) {
  // The parts of pi are all positive, and the sum of the series is a factor: so -0 stays -0.
  f32v r = sub_mul(x, n, splat(3.1415925f));
  r = sub_mul(r, n, splat(1.50995788e-07f));
  r = sub_mul(r, n, splat(1.07806057e-14f));
  f32v z = r * r;
  f32v p = mul_add(z, 2.60563115e-06f, -0.000198095397f);
  p = mul_add(mul_add(p, z, 0.00833306555f), z, -0.166666597f);
  f32v s = r * mul_add(p, z, 1.0f);
  return (f32v)((i32v)s ^ ((i32v)odd << 31));
}
SN_INLINE bool any_large(f32v x) { return any(as_mask((f32v)((i32v)x & 0x7fffffff) > 1e4f)); }
SN_INLINE f32v sin(f32v x) {
  if (__builtin_expect(any_large(x), 0)) return _ZGVeN16v_sinf(x);
  f32v odd = mul_add(x, 0.318309886f, 0x1.8p23f);
  return sin_reduced(x, odd - 0x1.8p23f, odd);
}
SN_INLINE f32v cos(f32v x) {  // sin(x + pi / 2), so n lies halfway between integers
  if (__builtin_expect(any_large(x), 0)) return _ZGVeN16v_cosf(x);
  f32v odd = mul_add(x, 0.318309886f, 0.5f) + 0x1.8p23f;
  return sin_reduced(x, (odd - 0x1.8p23f) - 0.5f, odd);
}

#else

SN_MATH1_F32V(sin)
SN_MATH1_F32V(cos)

#endif

}  // namespace sn
