// Simple functions for generated CPU kernels: minimum, maximum, rounding, roots, tests for NaN and
// infinity; scalars and vectors. Needs types.h. NaN propagates.

namespace sn {

// A comparison with NaN in a is false and picks a; NaN in b is restored afterwards. The accumulator
// of maximum(accumulator, x) is thus in the dependency chain of one instruction only.
#define SN_EXTREME(name, op)   \
  template <class T>           \
  SN_INLINE T name(T a, T b) { \
    T m = b op a ? b : a;      \
    return b != b ? b : m;     \
  }
SN_EXTREME(maximum, >)
SN_EXTREME(minimum, <)
#undef SN_EXTREME
#if SN_AVX512 && SN_LANES >= 4
#define SN_EXTREME(name, instruction)                                                              \
  SN_INLINE f32v name(f32v a, f32v b) {                                                            \
    u16 k;                                                                                         \
    asm("vcmpordps %0, %0, %1\n\t" instruction " %2, %0, %0%{%1%}" : "+v"(b), "=&Yk"(k) : "v"(a)); \
    return b;                                                                                      \
  }
SN_EXTREME(maximum, "vmaxps")
SN_EXTREME(minimum, "vminps")
#undef SN_EXTREME
#endif
SN_INLINE bool maximum(bool a, bool b) { return a | b; }
SN_INLINE bool minimum(bool a, bool b) { return a & b; }
SN_INLINE boolv maximum(boolv a, boolv b) { return {a.m | b.m}; }
SN_INLINE boolv minimum(boolv a, boolv b) { return {a.m & b.m}; }

SN_INLINE f32 abs(f32 a) { return __builtin_fabsf(a); }
SN_INLINE f64 abs(f64 a) { return __builtin_fabs(a); }
SN_INLINE i32 abs(i32 a) { return a < 0 ? (i32)(0u - (u32)a) : a; }
SN_INLINE i64 abs(i64 a) { return a < 0 ? (i64)(u64{0} - (u64)a) : a; }
SN_INLINE f32v abs(f32v a) { return (f32v)((i32v)a & 0x7fffffff); }
SN_INLINE f64v abs(f64v a) { return (f64v)((i64v)a & 0x7fffffffffffffff); }
SN_INLINE i32v abs(i32v a) { return a < 0 ? -a : a; }
SN_INLINE i64v abs(i64v a) { return a < 0 ? -a : a; }

// One instruction if the vector fits a register, else lane by lane.
#define SN_ROUND(name, imm, builtin)                              \
  SN_INLINE f32 name(f32 a) { return __builtin_##builtin##f(a); } \
  SN_INLINE f64 name(f64 a) { return __builtin_##builtin(a); }    \
  template <class V>                                              \
  SN_INLINE V name(V a) {                                         \
    V r;                                                          \
    if constexpr (SN_IN_REGISTER(sizeof(V))) {                    \
      if constexpr (sizeof(V) == 64 && sizeof(a[0]) == 4)         \
        asm("vrndscaleps $" imm ", %1, %0" : "=v"(r) : "v"(a));   \
      else if constexpr (sizeof(V) == 64)                         \
        asm("vrndscalepd $" imm ", %1, %0" : "=v"(r) : "v"(a));   \
      else if constexpr (sizeof(a[0]) == 4)                       \
        asm("vroundps $" imm ", %1, %0" : "=x"(r) : "x"(a));      \
      else                                                        \
        asm("vroundpd $" imm ", %1, %0" : "=x"(r) : "x"(a));      \
    } else {                                                      \
      for (int i = 0; i < SN_LANES; ++i) r[i] = name(a[i]);       \
    }                                                             \
    return r;                                                     \
  }
SN_ROUND(round, "8", rint)
SN_ROUND(floor, "9", floor)
SN_ROUND(ceil, "10", ceil)
SN_ROUND(trunc, "11", trunc)
#undef SN_ROUND

SN_INLINE f32 sqrt(f32 a) { return __builtin_sqrtf(a); }
SN_INLINE f64 sqrt(f64 a) { return __builtin_sqrt(a); }
template <class V>
SN_INLINE V sqrt(V a) {
  V r;
  if constexpr (!SN_IN_REGISTER(sizeof(V)))
    for (int i = 0; i < SN_LANES; ++i) r[i] = sqrt(a[i]);
  else if constexpr (sizeof(a[0]) == 4)
    asm("vsqrtps %1, %0" : "=v"(r) : "v"(a));
  else
    asm("vsqrtpd %1, %0" : "=v"(r) : "v"(a));
  return r;
}
template <class T>
SN_INLINE T reciprocal(T a) {
  return 1 / a;
}
template <class T>
SN_INLINE T rsqrt(T a) {
  return 1 / sqrt(a);
}

SN_INLINE f32 fma(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
SN_INLINE f64 fma(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
template <class V>
SN_INLINE V fma(V a, V b, V c) {
#ifdef __FMA__
  if constexpr (SN_IN_REGISTER(sizeof(V))) {
    if constexpr (sizeof(a[0]) == 4)
      asm("vfmadd231ps %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
    else
      asm("vfmadd231pd %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
    return c;
  }
#endif
  V r{};
  for (int i = 0; i < SN_LANES; ++i) r[i] = fma(a[i], b[i], c[i]);
  return r;
}

template <class T>
SN_INLINE auto isnan(T a) {
  return as_mask(a != a);
}
template <class T>
SN_INLINE auto isfinite(T a) {
  return as_mask(a - a == T{});
}
template <class T>
SN_INLINE auto isinf(T a) {
  return as_mask(abs(a) == (T{} + 1) / T{});
}

}  // namespace sn
