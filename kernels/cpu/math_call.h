// Calls of glibc's math functions in generated CPU kernels: scalars through builtins, vectors
// through libmvec. SN_CALL1(log) and SN_CALL2(pow) define log and pow for f32 and f64, and call_log
// and call_pow for f32v and f64v. Needs types.h. With SN_NO_LIBMVEC, and on other machines than
// x86-64, vectors are computed lane by lane.
//
// libmvec passes vectors with unusual lanes to scalar code, which takes many times as long. The
// vector functions therefore replace unusual lanes with an ordinary number before the call and with
// the right result afterwards.

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

// Calls f on a vector with as many lanes as one call, more, or fewer (then lanes repeat).
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

#define SN_SCALAR1(name)                                       \
  SN_INLINE f32 name(f32 a) { return __builtin_##name##f(a); } \
  SN_INLINE f64 name(f64 a) { return __builtin_##name(a); }
#define SN_CALL1(name)                           \
  SN_SCALAR1(name)                               \
  SN_VECTOR1(f64v, f64part, , SN_F64_CALL, name) \
  SN_VECTOR1(f32v, f32part, f, SN_F32_CALL, name)
#define SN_SCALAR2(name)                                                 \
  SN_INLINE f32 name(f32 a, f32 b) { return __builtin_##name##f(a, b); } \
  SN_INLINE f64 name(f64 a, f64 b) { return __builtin_##name(a, b); }
#define SN_CALL2(name)                           \
  SN_SCALAR2(name)                               \
  SN_VECTOR2(f64v, f64part, , SN_F64_CALL, name) \
  SN_VECTOR2(f32v, f32part, f, SN_F32_CALL, name)

// The type of comparing vectors of type V: integers of the same size.
template <class V>
using Bits = decltype(V{} < V{});
template <class V>
constexpr bool kNarrow = sizeof(Bits<V>{}[0]) == 4;

// A constant for f32 vectors and one for f64 vectors.
template <class V>
SN_INLINE V either(f64 narrow, f64 wide) {
  return splat<V>(kNarrow<V> ? narrow : wide);
}
template <class V>
SN_INLINE Bits<V> either_bits(i64 narrow, i64 wide) {
  return splat<Bits<V>>(kNarrow<V> ? narrow : wide);
}
template <class V>
SN_INLINE V magnitude(V a) {
  return (V)((Bits<V>)a & either_bits<V>(0x7fffffff, 0x7fffffffffffffff));
}
template <class V>
SN_INLINE V with_sign(V a, V sign) {  // a must not be negative
  return (V)((Bits<V>)a | ((Bits<V>)sign & either_bits<V>(0x80000000, (i64)0x8000000000000000)));
}
template <class V>
SN_INLINE V infinity() {
  return splat<V>(__builtin_inf());
}
template <class V>
SN_INLINE V not_a_number() {
  return splat<V>(__builtin_nan(""));
}
// A denormal is this integer times the smallest denormal.
template <class V>
SN_INLINE V denormal_digits(V x) {
  V one = either<V>(0x1p23, 0x1p52);
  return (V)((Bits<V>)x | (Bits<V>)one) - one;
}
// True if any lane of a comparison's result is set.
SN_INLINE bool any_lane(i32v mask) { return any(boolv{mask}); }
template <class M>
SN_INLINE bool any_lane(M mask) {
#if SN_AVX512
  if constexpr (sizeof(M) == 64) {
    u16 k;
    asm("vpmovd2m %1, %0" : "=Yk"(k) : "v"(mask));
    return k != 0;
  }
#endif
#ifdef __AVX__
  typedef __attribute__((vector_size(32))) f32 f32x8;
  if constexpr (sizeof(M) == 32) return __builtin_ia32_movmskps256((f32x8)mask) != 0;
#endif
#ifdef __SSE__
  typedef __attribute__((vector_size(16))) f32 f32x4;
  if constexpr (sizeof(M) == 16) return __builtin_ia32_movmskps((f32x4)mask) != 0;
#endif
  i64 some = 0;
  for (unsigned i = 0; i < sizeof(M) / sizeof(mask[0]); ++i) some |= mask[i];
  return some != 0;
}
// any_lane(a > b) for 32-bit lanes, without a round trip from mask register to vector and back.
template <class I>
SN_INLINE bool any_greater(I a, I b) {
#if SN_AVX512
  if constexpr (sizeof(I) == 64 && sizeof(a[0]) == 4) {
    u16 k;
    asm("vpcmpgtd %2, %1, %0" : "=Yk"(k) : "v"(a), "v"(b));
    return k != 0;
  }
#endif
  return any_lane(a > b);
}

// x| so small that f(x) = x (1 + O(x^2)) is x, and f(x) = 1 + O(x^2) is 1: its powers would be
// denormal, which processors compute slowly.
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

// Defines the vector function `name` of x: call_name(x) if all lanes are `ordinary`. Other lanes
// are called with `replaced` and get `special`, which may use the call's result y. Both are
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

// The functions implemented here work on parts: vectors that fit a register. For wider ones the
// compiler would go lane by lane where there is no single instruction.
#define SN_IN_PARTS1(name)                                                      \
  template <class V>                                                            \
  SN_INLINE V name(V x) {                                                       \
    using Part = decltype(part_of(x));                                          \
    if constexpr (sizeof(V) == sizeof(Part)) return (V)name##_of_part((Part)x); \
    V r;                                                                        \
    for (unsigned at = 0; at < sizeof(V); at += sizeof(Part))                   \
      put_part(&r, at, name##_of_part(get_part<Part>(x, at)));                  \
    return r;                                                                   \
  }
#define SN_IN_PARTS2(name)                                                               \
  template <class V>                                                                     \
  SN_INLINE V name(V x, V y) {                                                           \
    using Part = decltype(part_of(x));                                                   \
    if constexpr (sizeof(V) == sizeof(Part)) return (V)name##_of_part((Part)x, (Part)y); \
    V r;                                                                                 \
    for (unsigned at = 0; at < sizeof(V); at += sizeof(Part))                            \
      put_part(&r, at, name##_of_part(get_part<Part>(x, at), get_part<Part>(y, at)));    \
    return r;                                                                            \
  }
SN_INLINE f32part part_of(f32v) { return f32part{}; }
SN_INLINE f64part part_of(f64v) { return f64part{}; }
template <class Part, class V>
SN_INLINE Part get_part(const V& v, unsigned at) {
  Part p = Part{} + 1;
  __builtin_memcpy(&p, (const u8*)&v + at, sizeof(Part) < sizeof(V) ? sizeof(Part) : sizeof(V));
  return p;
}
template <class Part, class V>
SN_INLINE void put_part(V* v, unsigned at, Part p) {
  __builtin_memcpy((u8*)v + at, &p, sizeof(Part) < sizeof(V) ? sizeof(Part) : sizeof(V));
}

// As many f32 as an f64 part has lanes, and the two halves of an f32 part if that has more.
typedef __attribute__((vector_size(SN_F64_PART * 4))) f32 f32_of_part;
#if SN_F32_PART > SN_F64_PART
#if SN_F32_PART == 16
#define SN_FIRST 0, 1, 2, 3, 4, 5, 6, 7
#define SN_SECOND 8, 9, 10, 11, 12, 13, 14, 15
#elif SN_F32_PART == 8
#define SN_FIRST 0, 1, 2, 3
#define SN_SECOND 4, 5, 6, 7
#else
#define SN_FIRST 0, 1
#define SN_SECOND 2, 3
#endif
template <class P>
SN_INLINE auto first_half(P x) {
  return __builtin_shufflevector(x, x, SN_FIRST);
}
template <class P>
SN_INLINE auto second_half(P x) {
  return __builtin_shufflevector(x, x, SN_SECOND);
}
template <class Half>
SN_INLINE auto of_halves(Half first, Half second) {
  return __builtin_shufflevector(first, second, SN_FIRST, SN_SECOND);
}
#undef SN_FIRST
#undef SN_SECOND
#endif

// a * b + c, fused if the processor can, whatever the compiler's options.
template <class P>
SN_INLINE P mul_add(P a, P b, P c) {
#if SN_AVX512
  if constexpr (sizeof(P) == 64) {
    if constexpr (kNarrow<P>)
      return __builtin_ia32_vfmaddps512_mask(a, b, c, (u16)-1, 4);
    else
      return __builtin_ia32_vfmaddpd512_mask(a, b, c, (u8)-1, 4);
  }
#endif
#ifdef __FMA__
  if constexpr (sizeof(P) == 32) {
    if constexpr (kNarrow<P>)
      return __builtin_ia32_vfmaddps256(a, b, c);
    else
      return __builtin_ia32_vfmaddpd256(a, b, c);
  } else if constexpr (sizeof(P) == 16) {
    if constexpr (kNarrow<P>)
      return __builtin_ia32_vfmaddps(a, b, c);
    else
      return __builtin_ia32_vfmaddpd(a, b, c);
  }
#endif
  return a * b + c;
}
template <class P>
SN_INLINE P mul_add(P a, f64 b, P c) {
  return mul_add(a, splat<P>(b), c);
}
template <class P>
SN_INLINE P mul_add(P a, P b, f64 c) {
  return mul_add(a, b, splat<P>(c));
}
template <class P>
SN_INLINE P mul_add(P a, f64 b, f64 c) {
  return mul_add(a, splat<P>(b), splat<P>(c));
}
// Polynomial in x, constant coefficient first.
template <class P>
SN_INLINE P series(P, f64 last) {
  return splat<P>(last);
}
template <class P, class... Coefficients>
SN_INLINE P series(P x, f64 first, Coefficients... more) {
  return mul_add(series(x, more...), x, first);
}

// Minimum and maximum of a limit and x; NaN if x is NaN.
#if defined(__SSE2__) && !defined(__AVX__)
#define SN_LIMIT(name, op, instruction)                    \
  template <class P>                                       \
  SN_INLINE P name(P limit, P x) {                         \
    if constexpr (kNarrow<P>)                              \
      asm(instruction "ps %1, %0" : "+x"(limit) : "x"(x)); \
    else                                                   \
      asm(instruction "pd %1, %0" : "+x"(limit) : "x"(x)); \
    return limit;                                          \
  }
SN_LIMIT(least, <, "min")
SN_LIMIT(greatest, >, "max")
#else
#define SN_LIMIT(name, op, instruction)                                  \
  template <class P>                                                     \
  SN_INLINE P name(P limit, P x) {                                       \
    if constexpr (SN_IN_REGISTER(sizeof(P))) {                           \
      P r;                                                               \
      if constexpr (kNarrow<P>)                                          \
        asm(instruction "ps %2, %1, %0" : "=v"(r) : "v"(limit), "v"(x)); \
      else                                                               \
        asm(instruction "pd %2, %1, %0" : "=v"(r) : "v"(limit), "v"(x)); \
      return r;                                                          \
    }                                                                    \
    return limit op x ? limit : x;                                       \
  }
SN_LIMIT(least, <, "vmin")
SN_LIMIT(greatest, >, "vmax")
#endif
#undef SN_LIMIT

// 2^n for integral n, if the result is normal or infinite.
template <class P>
SN_INLINE P power_of_two(P n) {
  return (P)((Bits<P>)(n + either<P>(0x1.8p23 + 127, 0x1.8p52 + 1023)) << (kNarrow<P> ? 23 : 52));
}

}  // namespace sn
