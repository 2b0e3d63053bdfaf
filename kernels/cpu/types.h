// Types of generated CPU kernels: scalars, vectors of SN_LANES lanes, splats, conversions,
// comparisons, select. Pasted first into every kernel; includes nothing, like all headers here. A
// function has the same name for scalars and vectors, so generated text need not distinguish them.

#define SN_INLINE static inline __attribute__((always_inline))

// Whether a vector of that many bytes fits one register, with VEX or EVEX instructions.
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#define SN_AVX512 1
#else
#define SN_AVX512 0
#endif
#ifdef __AVX__
#define SN_IN_REGISTER(bytes) ((bytes) == 16 || (bytes) == 32 || (SN_AVX512 && (bytes) == 64))
#else
#define SN_IN_REGISTER(bytes) 0
#endif
#define SN_WORDS_IN_REGISTER SN_IN_REGISTER(SN_LANES * 4)  // f32v, i32v and boolv are

namespace sn {

typedef float f32;
typedef double f64;
typedef __INT32_TYPE__ i32;
typedef __INT64_TYPE__ i64;
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};

#define SN_VECTOR(T) __attribute__((vector_size(SN_LANES * sizeof(T)))) T
typedef SN_VECTOR(f32) f32v;
typedef SN_VECTOR(f64) f64v;
typedef SN_VECTOR(i32) i32v;
typedef SN_VECTOR(i64) i64v;
typedef SN_VECTOR(u8) u8v;
typedef SN_VECTOR(u16) u16v;
typedef SN_VECTOR(u32) u32v;
typedef SN_VECTOR(u64) u64v;
struct boolv {
  i32v m;  // lanes are 0 or -1
};

// x - 0 keeps the sign of a zero; x + 0 would not.
template <class V, class S>
SN_INLINE V splat(S x) {
  return (decltype(V{}[0] + V{}[0])) x - V{};
}
SN_INLINE f32v splat(f32 x) { return x - f32v{}; }
SN_INLINE f64v splat(f64 x) { return x - f64v{}; }
SN_INLINE i32v splat(i32 x) { return x - i32v{}; }
SN_INLINE i64v splat(i64 x) { return x - i64v{}; }
SN_INLINE boolv splat(bool x) { return {-(i32)x - i32v{}}; }
SN_INLINE f32v splat_f32(f32 x) { return splat(x); }
SN_INLINE f64v splat_f64(f64 x) { return splat(x); }
SN_INLINE i32v splat_i32(i32 x) { return splat(x); }
SN_INLINE i64v splat_i64(i64 x) { return splat(x); }
SN_INLINE boolv splat_bool(bool x) { return splat(x); }
template <class V>
SN_INLINE auto first_lane(V v) {
  return v[0];
}

// x converted to the type of the first argument.
SN_INLINE f32 like(f32, f64 x) { return (f32)x; }
SN_INLINE f64 like(f64, f64 x) { return x; }
SN_INLINE i32 like(i32, f64 x) { return (i32)x; }
SN_INLINE i64 like(i64, f64 x) { return (i64)x; }
SN_INLINE bool like(bool, f64 x) { return x != 0; }
template <class V>
SN_INLINE V like(V v, f64 x) {
  return splat(like(v[0], x));
}
SN_INLINE boolv like(boolv, f64 x) { return splat(x != 0); }

SN_INLINE i32v iota_i32() {
  i32v r;
  for (int i = 0; i < SN_LANES; ++i) r[i] = i;
  return r;
}
SN_INLINE i64v iota_i64() { return __builtin_convertvector(iota_i32(), i64v); }

// The result of a comparison as bool or boolv.
SN_INLINE bool as_mask(bool x) { return x; }
SN_INLINE boolv as_mask(i32v x) { return {x}; }
#if SN_AVX512 && SN_LANES == 8
SN_INLINE boolv as_mask(i64v x) {
  boolv r;
  asm("vpmovqd %1, %0" : "=v"(r.m) : "v"(x));
  return r;
}
SN_INLINE i64v wide_mask(boolv x) {
  i64v r;
  asm("vpmovsxdq %1, %0" : "=v"(r) : "v"(x.m));
  return r;
}
#else
SN_INLINE boolv as_mask(i64v x) { return {__builtin_convertvector(x, i32v)}; }
SN_INLINE i64v wide_mask(boolv x) { return __builtin_convertvector(x.m, i64v); }
#endif

#define SN_COMPARE(name, op)      \
  template <class T>              \
  SN_INLINE auto name(T a, T b) { \
    return as_mask(a op b);       \
  }
SN_COMPARE(eq, ==)
SN_COMPARE(ne, !=)
SN_COMPARE(lt, <)
SN_COMPARE(le, <=)
SN_COMPARE(gt, >)
SN_COMPARE(ge, >=)
#undef SN_COMPARE

SN_INLINE bool logical_and(bool a, bool b) { return a & b; }
SN_INLINE bool logical_or(bool a, bool b) { return a | b; }
SN_INLINE bool logical_xor(bool a, bool b) { return a ^ b; }
SN_INLINE bool logical_not(bool a) { return !a; }
SN_INLINE boolv logical_and(boolv a, boolv b) { return {a.m & b.m}; }
SN_INLINE boolv logical_or(boolv a, boolv b) { return {a.m | b.m}; }
SN_INLINE boolv logical_xor(boolv a, boolv b) { return {a.m ^ b.m}; }
SN_INLINE boolv logical_not(boolv a) { return {~a.m}; }

// true is greater than false.
SN_INLINE boolv eq(boolv a, boolv b) { return {~(a.m ^ b.m)}; }
SN_INLINE boolv ne(boolv a, boolv b) { return {a.m ^ b.m}; }
SN_INLINE boolv lt(boolv a, boolv b) { return {~a.m & b.m}; }
SN_INLINE boolv le(boolv a, boolv b) { return {~a.m | b.m}; }
SN_INLINE boolv gt(boolv a, boolv b) { return {a.m & ~b.m}; }
SN_INLINE boolv ge(boolv a, boolv b) { return {a.m | ~b.m}; }

// The first n lanes, for any n.
SN_INLINE boolv lanes_below(i64 n) {
  return lt(iota_i32(), splat((i32)(n < 0 ? 0 : n < SN_LANES ? n : SN_LANES)));
}

// Bit i is lane i.
SN_INLINE u32 lane_bits(boolv mask) {
#if SN_AVX512 && SN_WORDS_IN_REGISTER
  u16 k;
  asm("vpmovd2m %1, %0" : "=Yk"(k) : "v"(mask.m));
  return k;
#elif defined(__AVX__) && SN_LANES == 8
  return (u32)__builtin_ia32_movmskps256((f32v)mask.m);
#elif defined(__SSE__) && SN_LANES == 4
  return (u32)__builtin_ia32_movmskps((f32v)mask.m);
#else
  u32 bits = 0;
  for (int i = 0; i < SN_LANES; ++i) bits |= (u32)(mask.m[i] & 1) << i;
  return bits;
#endif
}
SN_INLINE bool any(boolv mask) { return lane_bits(mask) != 0; }
SN_INLINE bool any(bool mask) { return mask; }

template <class T>
SN_INLINE T select(bool c, T a, T b) {
  return c ? a : b;
}
SN_INLINE f32v select(boolv c, f32v a, f32v b) { return c.m ? a : b; }
SN_INLINE i32v select(boolv c, i32v a, i32v b) { return c.m ? a : b; }
SN_INLINE f64v select(boolv c, f64v a, f64v b) { return wide_mask(c) ? a : b; }
SN_INLINE i64v select(boolv c, i64v a, i64v b) { return wide_mask(c) ? a : b; }
SN_INLINE boolv select(boolv c, boolv a, boolv b) { return {(c.m & a.m) | (~c.m & b.m)}; }

// Floats to integers: NaN gives 0, out-of-range values the nearest integer.
template <class T, class S>
SN_INLINE T whole(S x) {
  const S limit = sizeof(T) == 4 ? (S)2147483648.0 : (S)9223372036854775808.0;
  const T most = sizeof(T) == 4 ? (T)__INT32_MAX__ : (T)__INT64_MAX__;
  if (x >= limit) return most;
  if (x < -limit) return -most - 1;
  return x == x ? (T)x : 0;
}
// The processor converts out-of-range values to the smallest integer.
template <class V, class T, class W>
SN_INLINE V whole_lanes(W x, W limit) {
  V r = __builtin_convertvector(x, V);
#if defined(__x86_64__)
  const T most = sizeof(T) == 4 ? (T)__INT32_MAX__ : (T)__INT64_MAX__;
  if (__builtin_expect(any(logical_not(as_mask(x < limit))), 0)) {
    boolv large = as_mask(x >= limit), number = as_mask(x == x);
    r = select(large, splat(most), select(number, r, V{}));
  }
#else
  for (int i = 0; i < SN_LANES; ++i) r[i] = whole<T>(x[i]);
#endif
  return r;
}

#define SN_CONVERT(T)                                                        \
  template <class S>                                                         \
  SN_INLINE T to_##T(S x) {                                                  \
    return (T)x;                                                             \
  }                                                                          \
  SN_INLINE T##v to_##T(i32v x) { return __builtin_convertvector(x, T##v); } \
  SN_INLINE T##v to_##T(i64v x) { return __builtin_convertvector(x, T##v); } \
  SN_INLINE T##v to_##T(boolv x) { return T##v{} - __builtin_convertvector(x.m, T##v); }
#define SN_CONVERT_TO_FLOAT(T)                                               \
  SN_INLINE T##v to_##T(f32v x) { return __builtin_convertvector(x, T##v); } \
  SN_INLINE T##v to_##T(f64v x) { return __builtin_convertvector(x, T##v); }
#define SN_CONVERT_TO_WHOLE(T, limit)                                                  \
  SN_INLINE T to_##T(f32 x) { return whole<T>(x); }                                    \
  SN_INLINE T to_##T(f64 x) { return whole<T>(x); }                                    \
  SN_INLINE T##v to_##T(f32v x) { return whole_lanes<T##v, T>(x, splat((f32)limit)); } \
  SN_INLINE T##v to_##T(f64v x) { return whole_lanes<T##v, T>(x, splat((f64)limit)); }
SN_CONVERT(f32)
SN_CONVERT(f64)
SN_CONVERT(i32)
SN_CONVERT(i64)
SN_CONVERT_TO_FLOAT(f32)
SN_CONVERT_TO_FLOAT(f64)
SN_CONVERT_TO_WHOLE(i32, 2147483648.0)
SN_CONVERT_TO_WHOLE(i64, 9223372036854775808.0)
#undef SN_CONVERT
#undef SN_CONVERT_TO_FLOAT
#undef SN_CONVERT_TO_WHOLE

// start, start + step, .. as f32, each rounded once.
SN_INLINE f32v range_f32(i64 start, i64 step) {
  const i64 last = start + step * (SN_LANES - 1);
  if (__builtin_expect(start == (i32)start && last == (i32)last, 1))
    return to_f32(splat((i32)start) + iota_i32() * splat((i32)step));
  f32v r;
  for (int i = 0; i < SN_LANES; ++i) r[i] = (f32)(start + i * step);
  return r;
}

template <class T>
SN_INLINE auto to_bool(T x) {
  return as_mask(x != T{});
}
SN_INLINE boolv to_bool(boolv x) { return x; }

}  // namespace sn
