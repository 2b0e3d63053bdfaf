// f16 and bf16 for generated CPU kernels: loads and stores that compute in f32, rounding to nearest
// even (NaN stays NaN, overflow gives infinity). Needs types.h and memory.h. With it, load, store,
// load_n, gather and the rest of memory.h also take f16* and bf16*.

namespace sn {

// Written once for one lane (I = i32, F = f32) and for SN_LANES lanes (i32v, f32v).
template <class I, class F>
SN_INLINE F widen_f16(I h) {
  I magnitude = h & 0x7fff;
  I bits = (magnitude << 13) + (112 << 23);
  bits = magnitude >= 0x7c00 ? bits + (112 << 23) : bits;
  F small = F{};
  if constexpr (sizeof(I) == 4)
    small = (F)magnitude * 0x1p-24f;
  else
    small = __builtin_convertvector(magnitude, F) * 0x1p-24f;
  bits = magnitude < 0x400 ? __builtin_bit_cast(I, small) : bits;
  return __builtin_bit_cast(F, bits | (h & 0x8000) << 16);
}
template <class I, class F>
SN_INLINE I narrow_f16(F x) {
  I bits = __builtin_bit_cast(I, x);
  I magnitude = bits & 0x7fffffff;
  // Adding 0.5 rounds off the last bits of a number below 2^-14, as f16's subnormals need.
  I small = __builtin_bit_cast(I, __builtin_bit_cast(F, magnitude) + 0.5f) - 0x3f000000;
  I normal = (magnitude - (112 << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  normal = normal > 0x7c00 ? I{} + 0x7c00 : normal;
  I h = magnitude < 0x38800000 ? small : normal;
  h = magnitude > 0x7f800000 ? (magnitude >> 13 & 0x3ff) | 0x7e00 : h;
  return h | ((bits >> 16) & 0x8000);
}
template <class I, class F>
SN_INLINE I narrow_bf16(F x) {
  I bits = __builtin_bit_cast(I, x);
  I rounded = bits + 0x7fff + ((bits >> 16) & 1);
  I nan = (bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : rounded;
  return (nan >> 16) & 0xffff;
}

SN_INLINE f32v unpack(const bf16*, u16v v) { return (f32v)(widen(v) << 16); }
SN_INLINE u16v pack(const bf16*, f32v v) { return narrow<u16v>(narrow_bf16<i32v>(v)); }
SN_INLINE f32v unpack(const f16*, u16v v) {
#if !defined(__F16C__) || !SN_WORDS_IN_REGISTER
  return widen_f16<i32v, f32v>(widen(v));
#elif SN_LANES == 16
  f32v r;
  asm("vcvtph2ps %1, %0" : "=v"(r) : "v"(v));
  return r;
#else
  f32v r;
  asm("vcvtph2ps %1, %0" : "=v"(r) : "v"(in_low_bytes(v)));
  return r;
#endif
}
SN_INLINE u16v pack(const f16*, f32v v) {
#if !defined(__F16C__) || !SN_WORDS_IN_REGISTER
  return narrow<u16v>(narrow_f16<i32v>(v));
#elif SN_LANES == 16
  u16v r;
  asm("vcvtps2ph $0, %1, %0" : "=v"(r) : "v"(v));
  return r;
#else
  i64x2 r;
  asm("vcvtps2ph $0, %1, %0" : "=v"(r) : "v"(v));
  return from_low_bytes<u16v>(r);
#endif
}

SN_INLINE f32 to_f32(f16 x) { return widen_f16<i32, f32>(x.bits); }
SN_INLINE f32 to_f32(bf16 x) { return __builtin_bit_cast(f32, (u32)x.bits << 16); }
template <class T>
SN_INLINE f16 to_f16(T x) {
  return {(u16)narrow_f16<i32>((f32)x)};
}
template <class T>
SN_INLINE bf16 to_bf16(T x) {
  return {(u16)narrow_bf16<i32>((f32)x)};
}
SN_INLINE f32 unpack_one(f16 x) { return to_f32(x); }
SN_INLINE f32 unpack_one(bf16 x) { return to_f32(x); }
SN_INLINE void store_one(f16* p, f32 x) { *p = to_f16(x); }
SN_INLINE void store_one(bf16* p, f32 x) { *p = to_bf16(x); }

// Rounds to the narrow type's precision and converts back.
SN_INLINE f32 round_f16(f32 x) { return to_f32(to_f16(x)); }
SN_INLINE f32 round_bf16(f32 x) { return to_f32(to_bf16(x)); }
SN_INLINE f32v round_f16(f32v x) { return unpack((const f16*)0, pack((const f16*)0, x)); }
SN_INLINE f32v round_bf16(f32v x) { return (f32v)(narrow_bf16<i32v>(x) << 16); }

}  // namespace sn
