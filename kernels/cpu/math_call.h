// How math functions of generated CPU kernels reach glibc: scalars by builtins, vectors by libmvec.
// SN_CALL1(log) and SN_CALL2(pow) define log and pow for f32 and f64, and call_log and call_pow for
// f32v and f64v. Needs types.h. With SN_NO_LIBMVEC, and on machines other than x86-64, vectors go
// lane by lane.
//
// libmvec leaves vectors with unusual lanes to scalar code, which takes many times as long. So the
// vector functions call it with ordinary lanes only: they put an ordinary number into the others,
// and the right result afterwards, if there are any such lanes.

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
  SN_INLINE V call_##name(V a) {                          \
    V r{};                                                \
    for (int i = 0; i < SN_LANES; ++i) r[i] = name(a[i]); \
    return r;                                             \
  }
#define SN_VECTOR2(V, T, suffix, CALL, name)                    \
  SN_INLINE V call_##name(V a, V b) {                           \
    V r{};                                                      \
    for (int i = 0; i < SN_LANES; ++i) r[i] = name(a[i], b[i]); \
    return r;                                                   \
  }
#else
#define SN_VECTOR1(V, Part, suffix, CALL, name)                                 \
  extern "C" __attribute__((const, nothrow)) Part CALL(v_##name##suffix)(Part); \
  SN_INLINE V call_##name(V a) { return by_parts<Part>(CALL(v_##name##suffix), a); }
#define SN_VECTOR2(V, Part, suffix, CALL, name)                                        \
  extern "C" __attribute__((const, nothrow)) Part CALL(vv_##name##suffix)(Part, Part); \
  SN_INLINE V call_##name(V a, V b) { return by_parts<Part>(CALL(vv_##name##suffix), a, b); }
#endif

#define SN_CALL1(name)                                         \
  SN_INLINE f32 name(f32 a) { return __builtin_##name##f(a); } \
  SN_INLINE f64 name(f64 a) { return __builtin_##name(a); }    \
  SN_VECTOR1(f64v, f64part, , SN_F64_CALL, name)               \
  SN_VECTOR1(f32v, f32part, f, SN_F32_CALL, name)
#define SN_CALL2(name)                                                   \
  SN_INLINE f32 name(f32 a, f32 b) { return __builtin_##name##f(a, b); } \
  SN_INLINE f64 name(f64 a, f64 b) { return __builtin_##name(a, b); }    \
  SN_VECTOR2(f64v, f64part, , SN_F64_CALL, name)                         \
  SN_VECTOR2(f32v, f32part, f, SN_F32_CALL, name)

// One number for vectors of f32, one for those of f64.
template <class V>
SN_INLINE V either(f64 narrow, f64 wide) {
  return splat<V>(sizeof(V) == sizeof(f32v) ? narrow : wide);
}
SN_INLINE f32v magnitude(f32v a) { return (f32v)((i32v)a & 0x7fffffff); }
SN_INLINE f64v magnitude(f64v a) { return (f64v)((i64v)a & 0x7fffffffffffffff); }
SN_INLINE f32v with_sign(f32v a, f32v sign) {  // a is not negative
  return (f32v)((i32v)a | ((i32v)sign & (i32)0x80000000));
}
SN_INLINE f64v with_sign(f64v a, f64v sign) {
  return (f64v)((i64v)a | ((i64v)sign & (i64)0x8000000000000000));
}
template <class V>
SN_INLINE V infinity() {
  return splat<V>(__builtin_inf());
}
template <class V>
SN_INLINE V not_a_number() {
  return splat<V>(__builtin_nan(""));
}
// A denormal is this integer times the least of them.
SN_INLINE f32v denormal_digits(f32v x) { return (f32v)((i32v)x | 0x4b000000) - 0x1p23f; }
SN_INLINE f64v denormal_digits(f64v x) { return (f64v)((i64v)x | 0x4330000000000000) - 0x1p52; }
// Is any lane of what a comparison gave set?
SN_INLINE bool any_lane(i32v mask) { return any(boolv{mask}); }
SN_INLINE bool any_lane(i64v mask) {
#if SN_AVX512 && SN_LANES == 8
  u8 k;
  asm("vpmovq2m %1, %0" : "=Yk"(k) : "v"(mask));
  return k != 0;
#elif defined(__AVX__) && SN_LANES == 4
  return __builtin_ia32_movmskpd256((f64v)mask) != 0;
#elif defined(__SSE2__) && SN_LANES == 2
  return __builtin_ia32_movmskpd((f64v)mask) != 0;
#else
  return any(as_mask(mask));
#endif
}

// Where |x| is so small that f(x) = x (1 + O(x^2)) is x, and f(x) = 1 + O(x^2) is 1: powers of it
// would be denormal, on which processors work slowly.
template <class V>
SN_INLINE V small() {
  return either<V>(0x1p-13, 0x1p-28);
}
// The same for f(x) = x (1 + O(x)) and 1 + O(x).
template <class V>
SN_INLINE V negligible() {
  return either<V>(0x1p-26, 0x1p-55);
}
template <class V>
SN_INLINE auto is_within(V x, V least, V most) {
  return (x >= least) & (x <= most);
}

// Defines the vector function `name` of x: call_name(x) where all lanes are `ordinary`. Else other
// lanes are called with `replaced`, and get `special`, which may use the call's result y. Both are
// evaluated for all lanes. m is |x|.
#define SN_GUARDED(name, ordinary, replaced, special)                  \
  template <class V>                                                   \
  SN_INLINE V name(V x) {                                              \
    [[maybe_unused]] V m = magnitude(x), one = V{} + 1;                \
    auto usual = ordinary;                                             \
    if (__builtin_expect(!any_lane(~usual), 1)) return call_##name(x); \
    [[maybe_unused]] V y = call_##name(usual ? x : replaced);          \
    return usual ? y : special;                                        \
  }

}  // namespace sn
