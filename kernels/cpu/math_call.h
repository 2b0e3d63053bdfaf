// How math functions of generated CPU kernels reach glibc: scalars by builtins, vectors by libmvec.
// SN_MATH1(log) and SN_MATH2(pow) define a function for f32, f64, f32v and f64v. Needs types.h.
// With SN_NO_LIBMVEC, and on machines other than x86-64, vectors go lane by lane.

#if !defined(SN_NO_LIBMVEC) && (!defined(__x86_64__) || !defined(__linux__))
#define SN_NO_LIBMVEC 1
#endif
#if SN_AVX512 && SN_LANES >= 16
#define SN_F32_PART 16
#define SN_F32_CALL(name) _ZGVeN16##name
#elif defined(__AVX2__) && SN_LANES >= 8
#define SN_F32_PART 8
#define SN_F32_CALL(name) _ZGVdN8##name
#else
#define SN_F32_PART 4
#define SN_F32_CALL(name) _ZGVbN4##name
#endif
#if SN_AVX512 && SN_LANES >= 8
#define SN_F64_PART 8
#define SN_F64_CALL(name) _ZGVeN8##name
#elif defined(__AVX2__) && SN_LANES >= 4
#define SN_F64_PART 4
#define SN_F64_CALL(name) _ZGVdN4##name
#else
#define SN_F64_PART 2
#define SN_F64_CALL(name) _ZGVbN2##name
#endif

namespace sn {

typedef __attribute__((vector_size(SN_F32_PART * 4))) f32 f32part;
typedef __attribute__((vector_size(SN_F64_PART * 8))) f64 f64part;

// Calls f on a vector that has the lanes of one call, more of them, or fewer (lanes repeat then).
template <class Part, class V, class... Vs>
SN_INLINE V by_parts(Part (*f)(Part, decltype((void)sizeof(Vs), Part{})...), V a, Vs... b) {
  constexpr int lanes = sizeof(Part) / sizeof(a[0]);
  if constexpr (lanes == SN_LANES) {
    return (V)f((Part)a, (Part)b...);
  } else {
    V r{};
    auto part = [](V v, int first) {
      Part p{};
      for (int i = 0; i < lanes; ++i) p[i] = v[(first + i) % SN_LANES];
      return p;
    };
    for (int first = 0; first < SN_LANES; first += lanes) {
      Part p = f(part(a, first), part(b, first)...);
      for (int i = 0; i < lanes && i < SN_LANES; ++i) r[first + i] = p[i];
    }
    return r;
  }
}

#if SN_AVX512 && SN_LANES == 16
// Fused whatever the compiler's options say: the inline functions' bounds rest on it.
SN_INLINE f32v mul_add(f32v a, f32v b, f32v c) {
  return __builtin_ia32_vfmaddps512_mask(a, b, c, (u16)-1, 4);
}
SN_INLINE f32v mul_sub(f32v a, f32v b, f32v c) { return mul_add(a, b, -c); }
SN_INLINE f32v sub_mul(f32v c, f32v a, f32v b) { return mul_add(-a, b, c); }
SN_INLINE f32v mul_add(f32v a, f32 b, f32v c) { return mul_add(a, splat(b), c); }
SN_INLINE f32v mul_add(f32v a, f32 b, f32 c) { return mul_add(a, splat(b), splat(c)); }
SN_INLINE f32v mul_add(f32v a, f32v b, f32 c) { return mul_add(a, b, splat(c)); }
#endif

#ifdef SN_NO_LIBMVEC
#define SN_VECTOR1(V, T, suffix, CALL, name)              \
  SN_INLINE V name(V a) {                                 \
    V r{};                                                \
    for (int i = 0; i < SN_LANES; ++i) r[i] = name(a[i]); \
    return r;                                             \
  }
#define SN_VECTOR2(V, T, suffix, CALL, name)                    \
  SN_INLINE V name(V a, V b) {                                  \
    V r{};                                                      \
    for (int i = 0; i < SN_LANES; ++i) r[i] = name(a[i], b[i]); \
    return r;                                                   \
  }
#else
#define SN_VECTOR1(V, Part, suffix, CALL, name)                                 \
  extern "C" __attribute__((const, nothrow)) Part CALL(v_##name##suffix)(Part); \
  SN_INLINE V name(V a) { return by_parts<Part>(CALL(v_##name##suffix), a); }
#define SN_VECTOR2(V, Part, suffix, CALL, name)                                        \
  extern "C" __attribute__((const, nothrow)) Part CALL(vv_##name##suffix)(Part, Part); \
  SN_INLINE V name(V a, V b) { return by_parts<Part>(CALL(vv_##name##suffix), a, b); }
#endif

// All but the f32v overload, for functions that have an inline one.
#define SN_MATH1_BUT_F32V(name)                                \
  SN_INLINE f32 name(f32 a) { return __builtin_##name##f(a); } \
  SN_INLINE f64 name(f64 a) { return __builtin_##name(a); }    \
  SN_VECTOR1(f64v, f64part, , SN_F64_CALL, name)
#define SN_MATH1_F32V(name) SN_VECTOR1(f32v, f32part, f, SN_F32_CALL, name)
#define SN_MATH1(name)    \
  SN_MATH1_BUT_F32V(name) \
  SN_MATH1_F32V(name)
#define SN_MATH2(name)                                                   \
  SN_INLINE f32 name(f32 a, f32 b) { return __builtin_##name##f(a, b); } \
  SN_INLINE f64 name(f64 a, f64 b) { return __builtin_##name(a, b); }    \
  SN_VECTOR2(f64v, f64part, , SN_F64_CALL, name)                         \
  SN_VECTOR2(f32v, f32part, f, SN_F32_CALL, name)

}  // namespace sn
