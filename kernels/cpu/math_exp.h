// exp, exp2, tanh and sigmoid of generated CPU kernels. exp and exp2 of f32 are inline, as softmax
// waits for them, and so are tanh and sigmoid of 16 f32 lanes with AVX-512; the others are calls.
// Needs types.h and math_call.h, which says why lanes are replaced.
// Error bounds stand in tests/kernels/cpu_vocabulary_test.cpp.

namespace sn {

SN_CALL1(exp)
SN_CALL1(exp2)
SN_CALL1(tanh)

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

// The same of limit and x, but 0 where x is denormal: processors multiply denormals slowly.
#define SN_OF_NORMAL(name, instruction)                                \
  SN_INLINE f32v name##_of_normal(f32v limit, f32v x) {                \
    f32v r;                                                            \
    u16 k;                                                             \
    asm("vptestmd %3, %2, %1\n\t" instruction " %2, %4, %0%{%1%}%{z%}" \
        : "=v"(r), "=&Yk"(k)                                           \
        : "v"(x), "v"(splat(0x7f800000)), "v"(limit));                 \
    return r;                                                          \
  }
SN_OF_NORMAL(least, "vminps")
SN_OF_NORMAL(greatest, "vmaxps")
#undef SN_OF_NORMAL

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
  return exp_clamped(greatest(splat(-110.0f), least_of_normal(splat(100.0f), x)));
}
SN_INLINE f32v exp2(f32v x) {
  x = greatest(splat(-160.0f), least_of_normal(splat(140.0f), x));
  f32v shifted = x + kRoundTo32nd;
  f32v n = shifted - kRoundTo32nd;
  return power_of_two(shifted, n, x - n);
}

SN_INLINE f32v sigmoid(f32v x) {
  f32v z = exp_clamped(greatest_of_normal(splat(-110.0f), (f32v)((i32v)x | (i32)0x80000000)));
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
  auto is_small = magnitude(x) < small<f32v>();
  f32v a = least(splat(9.5f), is_small ? f32v{} : magnitude(x));
  f32v shifted = mul_add(a, 2 * kLog2e, kRoundTo32nd);
  f32v n = shifted - kRoundTo32nd;
  f32v f = mul_sub(a, splat(2 * kLog2e), n) - lookup32(shifted, lack_low, lack_high);
  f32v t = scale_exponent(lookup32(shifted, SN_POWERS_LOW, SN_POWERS_HIGH), n);
  f32v p = mul_add(mul_add(f, 0.0555041097f, 0.240229264f), f, 0.693147182f);
  f32v e = mul_add(t * f, p, t - 1.0f);
  f32v q = e / (e + 2.0f);
  return is_small ? x : with_sign(q, x);
}

#else

// 2^n, n = shifted - 1.5 2^23 from -125 to 128, times e^r, |r| at most ln(2) / 2.
SN_INLINE f32v power_times_exp(f32v shifted, f32v r) {
  f32v p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  return (p + p) * (f32v)(((i32v)shifted - 0x4b400000 + 126) << 23);
}
SN_INLINE f32v exp_ordinary(f32v x) {  // whose result is a normal number or infinite
  x = x > 89.0f ? splat(89.0f) : x;    // NaN stays
  f32v shifted = x * 1.44269504f + 0x1.8p23f;
  f32v n = shifted - 0x1.8p23f;
  return power_times_exp(shifted, x - n * 0.693359375f - n * -2.12194440e-4f);
}
SN_INLINE f32v exp2_ordinary(f32v x) {
  x = x > 128.0f ? splat(128.0f) : x;
  f32v shifted = x + 0x1.8p23f;
  return power_times_exp(shifted, (x - (shifted - 0x1.8p23f)) * 0.693147181f);
}
// y 2^-64. The integer that a denormal's bits are is rounded as such, since processors multiply
// slowly where the product is denormal.
SN_INLINE f32v over_2_to_64(f32v y) {
  auto denormal = y < 0x1p-62f;
  f32v bits = (f32v)((i32v)(y * 0x1p85f + 0x1p23f) - 0x4b000000);
  return denormal ? bits : magnitude(denormal ? splat(1.0f) : y) * 0x1p-64f;
}
// From `least` on the functions above serve; results are 0 below `none`, and those between are over
// 2^64 what x + 64 ln(2), or x + 64, has. Denormals are replaced by 0, as they are slow, too.
#define SN_INLINE_POWER(name, least, none, of_64)                            \
  SN_INLINE f32v name(f32v x) {                                              \
    x = magnitude(x) < 0x1p-26f ? f32v{} : x;                                \
    f32v y = name##_ordinary(x < least ? splat(least) : x);                  \
    y = x < least ? f32v{} : y;                                              \
    auto denormal = (x < least) & (x > none);                                \
    if (__builtin_expect(any_lane(denormal), 0)) {                           \
      f32v z = over_2_to_64(name##_ordinary(denormal ? x + of_64 : f32v{})); \
      y = denormal ? z : y;                                                  \
    }                                                                        \
    return y;                                                                \
  }
SN_INLINE_POWER(exp, -86.9f, -104.0f, 44.3614196f)
SN_INLINE_POWER(exp2, -125.0f, -150.0f, 64.0f)
#undef SN_INLINE_POWER

#endif

// (root)^2 where that is denormal: the integer that its bits are, rounded as such.
SN_INLINE f64v denormal_square(f64v root) {
  f64v ulps = root * 0x1p537 * (root * 0x1p537);
  return (f64v)((i64v)(ulps + 0x1p52) - 0x4330000000000000);
}
// Where the result is near the greatest or the least numbers it is the square of its root. It is 0
// below `least`, denormal below `normal`, infinite above `most`.
#define SN_POWER(name, limit, least, normal, most)                                      \
  SN_INLINE f64v name(f64v x) {                                                         \
    f64v m = magnitude(x), one = f64v{} + 1;                                            \
    auto usual = is_within(m, negligible<f64v>(), splat(limit));                        \
    if (__builtin_expect(!any_lane(~usual), 1)) return call_##name(x);                  \
    auto large = (x >= least) & (x <= most) & (m > limit);                              \
    f64v half = with_sign(large ? m : one, x) * 0.5;                                    \
    f64v y = call_##name(usual ? x : half);                                             \
    auto normal_square = large & (x >= normal);                                         \
    f64v r = m < 1 ? one : x == x ? x < 0 ? f64v{} : infinity<f64v>() : x;              \
    r = normal_square ? y * (normal_square ? y : one) : r;                              \
    auto denormal = large & (x < normal);                                               \
    if (__builtin_expect(any_lane(denormal), 0)) r = denormal ? denormal_square(y) : r; \
    return usual ? y : r;                                                               \
  }
SN_POWER(exp, 700.0, -746.0, -708.4, 709.8)
SN_POWER(exp2, 1000.0, -1076.0, -1022.0, 1024.0)
#undef SN_POWER
SN_GUARDED(tanh, is_within(m, small<V>(), either<V>(10, 20)), one, m > one ? with_sign(one, x) : x)

// 1 / (1 + e^-x) for positive x; else e^x / (1 + e^x), which keeps the accuracy of small results.
template <class T>
SN_INLINE T sigmoid(T x) {
  T z = exp(x < 0 ? x : -x);
  return (x < 0 ? z : T{} + 1) / (z + 1);
}

}  // namespace sn
