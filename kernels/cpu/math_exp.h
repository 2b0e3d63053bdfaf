// exp, exp2, tanh and sigmoid of generated CPU kernels: calls, but inline for 16 f32 lanes with
// AVX-512, where they are what softmax and gelu wait for. Needs types.h and math_call.h.
// Error bounds stand in tests/kernels/cpu_vocabulary_test.cpp.

namespace sn {

SN_MATH1_BUT_F32V(exp)
SN_MATH1_BUT_F32V(exp2)
SN_MATH1_BUT_F32V(tanh)

#if SN_AVX512 && SN_LANES == 16

SN_INLINE f32v scale_exponent(f32v a, f32v n) {  // a * 2^floor(n)
  f32v r;
  asm("vscalefps %2, %1, %0" : "=v"(r) : "v"(a), "v"(n));
  return r;
}
SN_INLINE f32v lookup32(f32v index, f32v low, f32v high) {  // by the index's low five bits
  asm("vpermi2ps %2, %1, %0" : "+v"(index) : "v"(low), "v"(high));
  return index;
}
SN_INLINE f32v least(f32v a, f32v b) {  // b where either is NaN
  f32v r;
  asm("vminps %2, %1, %0" : "=v"(r) : "v"(a), "v"(b));
  return r;
}
SN_INLINE f32v greatest(f32v a, f32v b) {
  f32v r;
  asm("vmaxps %2, %1, %0" : "=v"(r) : "v"(a), "v"(b));
  return r;
}

// Adding this rounds to a multiple of 1/32 and leaves 32 times it in the low bits.
constexpr f32 kRoundTo32nd = 0x1.8p18f;
constexpr f32 kLog2e = 0x1.715476p0f;
constexpr f32 kLog2eLow = 0x1.4ae0bep-26f;

// 2^(j/32) for j below 16 and from 16, each rounded to f32.
#define SN_POWERS_LOW                                                                             \
  (f32v{1.0f, 1.0218972f, 1.04427373f, 1.06714046f, 1.09050775f, 1.1143868f, 1.13878858f,         \
        1.1637249f, 1.18920708f, 1.21524739f, 1.24185777f, 1.26905096f, 1.29683959f, 1.32523668f, \
        1.35425556f, 1.38390994f})
#define SN_POWERS_HIGH                                                                            \
  (f32v{1.41421354f, 1.44518077f, 1.47682619f, 1.50916445f, 1.54221082f, 1.5759809f, 1.61049032f, \
        1.64575553f, 1.68179286f, 1.71861935f, 1.75625217f, 1.79470909f, 1.8340081f, 1.87416768f, \
        1.91520655f, 1.95714414f})

// 2^(n + f) for shifted = n + kRoundTo32nd, n a multiple of 1/32 and |f| at most 1/64.
SN_INLINE f32v power_of_two(f32v shifted, f32v n, f32v f) {
  f32v power = lookup32(shifted, SN_POWERS_LOW, SN_POWERS_HIGH);
  f32v p = mul_add(f, 0.240227103f, 0.693157375f);
  return scale_exponent(mul_add(power * f, p, power), n);
}
SN_INLINE f32v exp_clamped(f32v x) {
  f32v shifted = mul_add(x, kLog2e, kRoundTo32nd);
  f32v n = shifted - kRoundTo32nd;
  f32v f = mul_sub(x, splat(kLog2e), n);
  return power_of_two(shifted, n, mul_add(x, kLog2eLow, f));
}
SN_INLINE f32v exp(f32v x) {
  return exp_clamped(greatest(splat(-110.0f), least(splat(100.0f), x)));
}
SN_INLINE f32v exp2(f32v x) {
  x = greatest(splat(-160.0f), least(splat(140.0f), x));
  f32v shifted = x + kRoundTo32nd;
  f32v n = shifted - kRoundTo32nd;
  return power_of_two(shifted, n, x - n);
}

// 1 / (1 + e^-x) for positive x; else e^x / (1 + e^x), which keeps the accuracy of small results.
SN_INLINE f32v sigmoid(f32v x) {
  f32v z = exp_clamped(greatest(splat(-110.0f), (f32v)((i32v)x | (i32)0x80000000)));
  return (x < 0.0f ? z : splat(1.0f)) / (z + 1.0f);
}

// (e^2|x| - 1) / (e^2|x| + 1), where e^2|x| - 1 = (t - 1) + t (2^f - 1) with t a power of two times
// a table entry. What the entry lacks of being 2^(j/32) goes into f, so that nothing is lost near
// 0.
SN_INLINE f32v tanh(f32v x) {
  const f32v lack_low = {0.0f,
                         6.79286885e-08f,
                         -6.67758187e-08f,
                         8.02199409e-08f,
                         1.73010264e-08f,
                         7.03689835e-08f,
                         -6.82363321e-08f,
                         5.02265998e-08f,
                         -4.60712819e-08f,
                         3.87892598e-08f,
                         -5.22408143e-08f,
                         -1.61354052e-09f,
                         4.47101591e-08f,
                         3.80626375e-08f,
                         1.07844533e-08f,
                         6.12515763e-08f};
  const f32v lack_high = {-2.46906744e-08f, -3.3184822e-08f, 4.39687788e-08f,  2.38600659e-08f,
                          -7.55010543e-09f, 5.18225391e-08f, -8.8113925e-09f,  4.49263098e-08f,
                          2.12359019e-08f,  4.07101162e-08f, 7.58683782e-09f,  9.17609899e-09f,
                          8.84121043e-09f,  3.58948427e-08f, -7.41633155e-09f, 1.25475035e-08f};
  f32v a = least(splat(9.5f), (f32v)((i32v)x & 0x7fffffff));
  f32v shifted = mul_add(a, 2 * kLog2e, kRoundTo32nd);
  f32v n = shifted - kRoundTo32nd;
  f32v f = mul_sub(a, splat(2 * kLog2e), n) - lookup32(shifted, lack_low, lack_high);
  f32v t = scale_exponent(lookup32(shifted, SN_POWERS_LOW, SN_POWERS_HIGH), n);
  f32v p = mul_add(mul_add(f, 0.0555041097f, 0.240229264f), f, 0.693147182f);
  f32v e = mul_add(t * f, p, t - 1.0f);
  f32v q = e / (e + 2.0f);
  return (f32v)((i32v)q | ((i32v)x & (i32)0x80000000));
}

#else

SN_MATH1_F32V(exp)
SN_MATH1_F32V(exp2)
SN_MATH1_F32V(tanh)

#endif

template <class T>
SN_INLINE T sigmoid(T x) {
  T z = exp(x < 0 ? x : -x);
  return (x < 0 ? z : T{} + 1) / (z + 1);
}

}  // namespace sn
