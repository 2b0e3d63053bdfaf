// floor_div and remainder for generated CPU kernels, scalars and vectors. Needs types.h and math.h.
// NaN propagates; integer division never traps.

namespace sn {

// Python's rules: the quotient is rounded down, the remainder has the divisor's sign. Integer
// division by zero gives 0 (and remainder 0); the smallest integer divided by -1 wraps.
template <class T>
SN_INLINE T int_floor_div(T a, T b) {
  if (b == 0) return 0;
  if (b == -1) return (T)(u64{0} - (u64)a);
  T q = a / b;
  return q - ((a % b != 0) & ((a ^ b) < 0));
}
template <class T>
SN_INLINE T int_remainder(T a, T b) {
  if (b == 0 || b == -1) return 0;
  T r = a % b;
  return r != 0 && (r ^ b) < 0 ? r + b : r;
}
SN_INLINE f32 truncated_remainder(f32 a, f32 b) { return __builtin_fmodf(a, b); }
SN_INLINE f64 truncated_remainder(f64 a, f64 b) { return __builtin_fmod(a, b); }
template <class T>
SN_INLINE T float_remainder(T a, T b) {
  T r = truncated_remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
template <class T>
SN_INLINE T float_floor_div(T a, T b) {
  if (b == 0) return a / b;
  T r = truncated_remainder(a, b);
  T q = (a - r) / b - (r != 0 && (r < 0) != (b < 0));
  T down = floor(q);
  return down + (q - down > T(0.5));
}
SN_INLINE i32 floor_div(i32 a, i32 b) { return int_floor_div(a, b); }
SN_INLINE i64 floor_div(i64 a, i64 b) { return int_floor_div(a, b); }
SN_INLINE f32 floor_div(f32 a, f32 b) { return float_floor_div(a, b); }
SN_INLINE f64 floor_div(f64 a, f64 b) { return float_floor_div(a, b); }
SN_INLINE i32 remainder(i32 a, i32 b) { return int_remainder(a, b); }
SN_INLINE i64 remainder(i64 a, i64 b) { return int_remainder(a, b); }
SN_INLINE f32 remainder(f32 a, f32 b) { return float_remainder(a, b); }
SN_INLINE f64 remainder(f64 a, f64 b) { return float_remainder(a, b); }
template <class V>
SN_INLINE V floor_div(V a, V b) {
  V r{};
  for (int i = 0; i < SN_LANES; ++i) r[i] = floor_div(a[i], b[i]);
  return r;
}
template <class V>
SN_INLINE V remainder(V a, V b) {
  V r{};
  for (int i = 0; i < SN_LANES; ++i) r[i] = remainder(a[i], b[i]);
  return r;
}

// Float vectors that fit a register.
#if SN_IN_REGISTER(SN_LANES * 4) || (defined(__SSE2__) && SN_LANES == 4)
#define SN_DIVIDES_F32 1
#endif
#if SN_IN_REGISTER(SN_LANES * 8) || (defined(__SSE2__) && SN_LANES == 2)
#define SN_DIVIDES_F64 1
#endif
#if SN_DIVIDES_F32 || SN_DIVIDES_F64

SN_INLINE i32v exponent_of(f32v a) { return (i32v)a >> 23; }  // a must not be negative
SN_INLINE i64v exponent_of(f64v a) { return (i64v)a >> 52; }
SN_INLINE f32v with_exponent(f32v a, i32v e) { return (f32v)(((i32v)a & 0x7fffff) | e << 23); }
SN_INLINE f64v with_exponent(f64v a, i64v e) {
  return (f64v)(((i64v)a & 0xfffffffffffff) | e << 52);
}
SN_INLINE f32v with_sign_of(f32v a, f32v sign) {
  return (f32v)((i32v)a | ((i32v)sign & (i32)0x80000000));
}
SN_INLINE f64v with_sign_of(f64v a, f64v sign) {
  return (f64v)((i64v)a | ((i64v)sign & (i64)0x8000000000000000));
}

template <class M>
SN_INLINE bool any_set(M mask) {
#if defined(__SSE2__) && !defined(__AVX__)
  typedef __attribute__((vector_size(16))) f32 f32x4;
  if constexpr (sizeof(M) == 16) return __builtin_ia32_movmskps((f32x4)mask) != 0;
#endif
  return any(as_mask(mask));
}

// r - q d, exact if that is at most d and q is an integer of few digits: without FMA, half as many
// as d has.
#ifdef __FMA__
constexpr int kNarrowDigits = 22, kWideDigits = 50;
template <class V>
SN_INLINE V minus_product(V r, V q, V d) {
  return fma(-q, d, r);
}
template <class V>
SN_INLINE V whole_part(V q) {
  return trunc(q);
}
#else
constexpr int kNarrowDigits = 10, kWideDigits = 24;
SN_INLINE f32v first_digits(f32v d) { return (f32v)((i32v)d & ~0xfff); }
SN_INLINE f64v first_digits(f64v d) { return (f64v)((i64v)d & ~(i64)0x7ffffff); }
template <class V>
SN_INLINE V minus_product(V r, V q, V d) {
  V high = first_digits(d);
  return (r - q * high) - q * (d - high);
}
template <class V>
SN_INLINE V whole_part(V q) {
  V shift = splat<V>(sizeof(q[0]) == 4 ? 0x1.8p23 : 0x1.8p52), near = (q + shift) - shift;
  return near > q ? near - 1 : near;
}
#endif

// r modulo b, for finite non-negative r and b, b normal. A quotient of few digits is right or one
// too large, and its remainder is exact; a large r is first reduced by b times a power of two.
template <class V>
SN_INLINE V reduced_remainder(V r, V b) {
  auto least = exponent_of(b);
  do {
    auto most = exponent_of(r) - (sizeof(r[0]) == 4 ? kNarrowDigits : kWideDigits);
    V d = with_exponent(b, most > least ? most : least);
    r = minus_product(r, whole_part(r / d), d);
    r = r < V{} ? r + d : r;
  } while (__builtin_expect(any_set(r >= b), 0));
  return r;
}
// C's fmod, whose scalar code takes one step per bit of the quotient. If b is small, a is reduced
// by b times a power of two, and the remainder times that power likewise. Lanes that are their own
// remainder divide 0, since processors divide denormals slowly.
template <class V>
SN_INLINE V truncated_remainder_of(V a, V b) {
  const bool narrow = sizeof(a[0]) == 4;
  V m = abs(a), n = abs(b), infinity = splat<V>(__builtin_inf());
  auto regular = (m < infinity) & (n <= m) & (n > V{});
  auto low = regular & (n < splat<V>(narrow ? 0x1p-60 : 0x1p-500));
  V up = splat<V>(narrow ? 0x1p64 : 0x1p512), down = splat<V>(narrow ? 0x1p-64 : 0x1p-512);
  V divisor = regular ? n : V{} + 1;
  bool any_low = __builtin_expect(any_set(low), 0);
  if (any_low) divisor = low ? n * up : divisor;
  V r = reduced_remainder(regular ? m : V{}, divisor);
  if (any_low) r = low ? reduced_remainder(low ? r * up : V{}, divisor) * down : r;
  V other = m < n ? a : splat<V>(__builtin_nan(""));
  return regular ? with_sign_of(r, a) : other;
}
template <class V>
SN_INLINE V remainder_of(V a, V b) {
  V r = truncated_remainder_of(a, b);
  return (r != V{}) & ((r < V{}) ^ (b < V{})) ? r + b : r;
}
template <class V>
SN_INLINE V floor_div_of(V a, V b) {
  V r = truncated_remainder_of(a, b), one = V{} + 1;
  V q = (a - r) / b - ((r != V{}) & ((r < V{}) ^ (b < V{})) ? one : V{});
  V down = floor(q);
  V by_zero = (b == V{} ? a : one) * with_sign_of(splat<V>(__builtin_inf()), b);  // like a / b
  return b == V{} ? by_zero : down + (q - down > one * 0.5f ? one : V{});
}
#if SN_DIVIDES_F32
SN_INLINE f32v remainder(f32v a, f32v b) { return remainder_of(a, b); }
SN_INLINE f32v floor_div(f32v a, f32v b) { return floor_div_of(a, b); }
#endif
#if SN_DIVIDES_F64
SN_INLINE f64v remainder(f64v a, f64v b) { return remainder_of(a, b); }
SN_INLINE f64v floor_div(f64v a, f64v b) { return floor_div_of(a, b); }
#endif

#endif

}  // namespace sn
