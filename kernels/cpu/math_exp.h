// exp, exp2, expm1, sinh, cosh, tanh and sigmoid for generated CPU kernels, implemented for
// vectors. Arguments are clamped first, so that no lane needs special treatment. f32 has special
// versions of exp, exp2, tanh and sigmoid for 16 lanes with AVX-512 and for 8 with AVX2, because
// softmax and GELU depend on them. Needs types.h and math_call.h. Error bounds are in
// tests/kernels/cpu_vocabulary_test.cpp.

namespace sn {

SN_SCALAR1(exp)
SN_SCALAR1(exp2)
SN_SCALAR1(expm1)
SN_SCALAR1(sinh)
SN_SCALAR1(cosh)
SN_SCALAR1(tanh)

// x = n ln(2) + rest. The first part of ln(2) has so few digits that its product with n is exact.
template <class P>
struct Exponent {
  P n, rest;
};
template <class P>
SN_INLINE Exponent<P> split_exponent(P x) {
  P shift = either<P>(0x1.8p23, 0x1.8p52);
  P n = mul_add(x, 1.4426950408889634, shift) - shift;
  P rest = mul_add(n, either<P>(-0.693359375, -0x1.62e42feep-1), x);
  return {n, mul_add(n, either<P>(2.12194440e-4, -0x1.a39ef35793c76p-33), rest)};
}
// e^r - 1 for |r| <= ln(2) / 2.
template <class P>
SN_INLINE P exp_less_one(P r) {
  P p, rr = r * r;
  if constexpr (kNarrow<P>)
    p = mul_add(series(rr, 1.6666665459e-1, 8.3334519073e-3, 1.9875691500e-4), r,
                series(rr, 5.0000001201e-1, 4.1665795894e-2, 1.3981999507e-3));
  else
    p = mul_add(series(rr, 0.16666666666666674, 0.008333333333322182, 0.0001984126988668819,
                       2.7557242217146296e-06, 2.5110097289992776e-08),
                r,
                series(rr, 0.5000000000000001, 0.041666666666624094, 0.0013888888917231565,
                       2.4801521268478115e-05, 2.762010145304682e-07));
  return mul_add(rr, p, r);
}

// p 2^n for p from 1/2 to 2, near or below the smallest normal number. Rounds the integer that is
// the denormal's bit pattern, since processors multiply slowly if the product is denormal.
template <class P>
SN_INLINE P low_product(P p, P n) {
  P one = either<P>(0x1p23, 0x1p52), digits = p * power_of_two(n + either<P>(149, 1074));
  auto normal = digits >= one;
  P bits = (P)((Bits<P>)(digits + one) - (Bits<P>)one);
  return normal ? (normal ? p : P{} + 1) * either<P>(0x1p-126, 0x1p-1022) : bits;
}
// p 2^n for n at most 129 or 1025. Below the denormals power_of_two gives 0.
template <class P>
SN_INLINE P scaled(P p, P n) {
  P y;
#if SN_AVX512
  if constexpr (kNarrow<P>)
    asm("vscalefps %2, %1, %0" : "=v"(y) : "v"(p), "v"(n));
  else
    asm("vscalefpd %2, %1, %0" : "=v"(y) : "v"(p), "v"(n));
#else
  P zero = either<P>(-126, -1022), middle = either<P>(-138, -1048.5);
  y = (p + p) * power_of_two(greatest(zero, n) - 1);
  auto low = magnitude(n - middle) < zero - middle + 1;  // denormal or nearly so
  if (__builtin_expect(any_lane(low), 0)) y = low ? low_product(p, low ? n : middle) : y;
#endif
  return y;
}

// Replaces denormals with 0, since processors multiply them slowly.
template <class P>
SN_INLINE P without_tiny(P x) {
  return magnitude(x) < negligible<P>() ? P{} : x;
}
template <class P>
SN_INLINE P exp_of_part(P x) {
  x = greatest(either<P>(-106, -750), least(either<P>(89, 710), without_tiny(x)));
  auto [n, rest] = split_exponent(x);
  return scaled(exp_less_one(rest) + 1, n);
}
template <class P>
SN_INLINE P exp2_of_part(P x) {
  x = greatest(either<P>(-153, -1080), least(either<P>(129, 1025), without_tiny(x)));
  P shift = either<P>(0x1.8p23, 0x1.8p52);
  P n = (x + shift) - shift;
  return scaled(exp_less_one((x - n) * splat<P>(0.6931471805599453)) + 1, n);
}

// (e^x - 1) / 2, for x where e^x is normal or overflows by less than a factor of 2.
template <class P>
SN_INLINE P half_expm1(P x) {
  auto [n, rest] = split_exponent(x);
  P t = power_of_two(n - 2);  // the exponent of e^x / 2 is at most 1024
  P y = mul_add(t, exp_less_one(rest), t - splat<P>(0.25));
  return y + y;
}
template <class P>
SN_INLINE P expm1_of_part(P x) {
  auto tiny = magnitude(x) < negligible<P>();
  P y = half_expm1(greatest(either<P>(-20, -40), least(either<P>(89, 710), tiny ? P{} : x)));
  return tiny ? x : y + y;
}
template <class P>
SN_INLINE P sinh_of_part(P x) {
  auto tiny = magnitude(x) < small<P>();
  P h = half_expm1(least(either<P>(89.6, 710.7), tiny ? P{} : magnitude(x)));
  P y = h * (1 / (h + h + 1) + 1);
  return tiny ? x : with_sign(y, x);
}
template <class P>
SN_INLINE P cosh_of_part(P x) {
  P m = magnitude(x);
  auto [n, rest] = split_exponent(least(either<P>(89.6, 710.7), m < small<P>() ? P{} : m));
  P y = (exp_less_one(rest) + 1) * 2 * power_of_two(n - 2);
  return y + splat<P>(0.25) / y;
}
template <class P>
SN_INLINE P tanh_of_part(P x) {
  P m = magnitude(x);
  auto tiny = m < small<P>();
  m = least(either<P>(10, 20), tiny ? P{} : m);
  P h = half_expm1(m + m);
  return tiny ? x : with_sign(h / (h + 1), x);
}
// e^x / (1 + e^x) for negative x, which keeps small results accurate; it is e^x where that is so
// small that the division would involve denormals. 1 / (1 + e^-x) for positive x.
template <class P>
SN_INLINE P sigmoid_of_power(P x, P z) {  // z = e^-|x|
  P some = greatest(splat<P>(0x1p-100f), z);
  P y = (x < 0 ? some : P{} + 1) / (some + 1);
  return x < -60 ? z : y;
}
template <class P>
SN_INLINE P sigmoid_of_part(P x) {
  return sigmoid_of_power(x, exp_of_part(-magnitude(x)));
}

#if defined(__AVX2__) && SN_F32_PART == 8

// exp, exp2, tanh and sigmoid for 8 lanes of f32. log2(e) x is n + f, where n is a multiple of 1/8
// and |f| <= 1/16. If 2^n may not be normal in some lane, a slower way is taken, which gives the
// other lanes the same bits: a result must not depend on its neighbours.
typedef Bits<f32part> i32part;

// Adding this rounds to a multiple of 1/8 and leaves 8 times it in the low bits.
constexpr f32 kRoundToEighth = 0x1.8p20f;
constexpr f32 kLog2e = 0x1.715476p0f;
constexpr f32 kLog2eLow = 0x1.4ae0bep-26f;

SN_INLINE f32part lookup8(f32part index, f32part table) {  // by the index's low three bits
  return __builtin_ia32_permvarsf256(table, (i32part)index);
}
// 2^n for n = eighths / 8, if that is normal. An entry is 2^(j/8) less j where shifting leaves it.
SN_INLINE f32part power_of_eighths(i32part eighths) {
  const i32part powers = {0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7,
                          0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7};
  return (f32part)((i32part)lookup8((f32part)eighths, (f32part)powers) + (eighths << 20));
}
struct Eighths {
  f32part shifted, f;  // n + kRoundToEighth
};
// Adding a negligible number to x replaces denormals, which processors multiply slowly.
SN_INLINE Eighths split_exp(f32part x) {
  x = 0x1p-60f + x;
  f32part shifted = mul_add(x, kLog2e, kRoundToEighth);
  f32part n = shifted - kRoundToEighth;
  return {shifted, mul_add(x, kLog2eLow, mul_add(x, kLog2e, -n))};
}
SN_INLINE Eighths split_exp2(f32part x) {
  x += 0x1p-60f;
  f32part shifted = x + kRoundToEighth;
  return {shifted, x - (shifted - kRoundToEighth)};
}
SN_INLINE f32part times_power(f32part power, f32part f) {  // power 2^f
  f32part p = mul_add(mul_add(f, 0.055508282f, 0.24025764f), f, 0.6931472f);
  return mul_add(power, f * p, power);
}
SN_INLINE f32part normal_power(Eighths e) {
  return times_power(power_of_eighths((i32part)e.shifted), e.f);
}
SN_INLINE f32part any_power(Eighths e) {
  i32part bits = (i32part)e.shifted, below_one = bits & 7;
  f32part whole = (f32part)(bits - below_one) - kRoundToEighth;
  return scaled(times_power(power_of_eighths(below_one), e.f), whole);
}
static __attribute__((noinline)) f32part far_exp(f32part x) {
  return any_power(split_exp(greatest(splat<f32part>(-106), least(splat<f32part>(89), x))));
}
static __attribute__((noinline)) f32part far_exp2(f32part x) {
  return any_power(split_exp2(greatest(splat<f32part>(-153), least(splat<f32part>(129), x))));
}
// Also true if there is a NaN.
SN_INLINE bool any_beyond(f32part x, f32 limit) {
  return __builtin_expect(any_lane((i32part)magnitude(x) > (i32part)(limit - f32part{})), 0);
}
SN_INLINE f32part exp_of_part(f32part x) {
  return any_beyond(x, 87) ? far_exp(x) : normal_power(split_exp(x));
}
SN_INLINE f32part exp2_of_part(f32part x) {
  return any_beyond(x, 125) ? far_exp2(x) : normal_power(split_exp2(x));
}
static __attribute__((noinline)) f32part far_sigmoid(f32part x) {
  f32part y = sigmoid_of_power(x, far_exp(-magnitude(x)));
  return magnitude(x) <= 87 ? 1 / (far_exp(-x) + 1) : y;
}
SN_INLINE f32part sigmoid_of_part(f32part x) {
  if (any_beyond(x, 87)) return far_sigmoid(x);
  return 1 / (normal_power(split_exp(-x)) + 1);
}
// (e^2|x| - 1) / (e^2|x| + 1), where e^2|x| - 1 = (t - 1) + t (2^f - 1) and t is a power of two
// times a table entry. The entry's rounding error is added to f, so that nothing is lost near 0.
SN_INLINE f32part tanh_of_part(f32part x) {
  const f32part lack = {0.0f,           1.7301026e-08f,  -4.6071282e-08f,
                        4.471016e-08f,  -2.4690674e-08f, -7.550105e-09f,
                        2.1235902e-08f, 8.84121e-09f};
  auto is_small = magnitude(x) < small<f32part>();
  f32part a = least(splat<f32part>(9.5), is_small ? f32part{} : magnitude(x));
  f32part shifted = mul_add(a, 2 * kLog2e, kRoundToEighth);
  f32part n = shifted - kRoundToEighth;
  f32part f = mul_add(a, 2 * kLog2e, -n) - lookup8(shifted, lack);
  f32part t = power_of_eighths((i32part)shifted);
  f32part square = (f * f) * series(f, 0.2402265, 0.0555078, 0.0096186185);
  f32part e = mul_add(t, mul_add(f, 0.6931472, square), t - 1);
  return is_small ? x : with_sign(e / (e + 2), x);
}

#endif

SN_IN_PARTS1(exp)
SN_IN_PARTS1(exp2)
SN_IN_PARTS1(expm1)
SN_IN_PARTS1(sinh)
SN_IN_PARTS1(cosh)
SN_IN_PARTS1(tanh)

SN_IN_PARTS1(sigmoid)
SN_INLINE f32 sigmoid(f32 x) {
  f32 z = exp(x < 0 ? x : -x);
  return (x < 0 ? z : 1) / (z + 1);
}
SN_INLINE f64 sigmoid(f64 x) {
  f64 z = exp(x < 0 ? x : -x);
  return (x < 0 ? z : 1) / (z + 1);
}

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
// Adding this rounds to a multiple of 1/32 and leaves 32 times it in the low bits.
constexpr f32 kRoundTo32nd = 0x1.8p18f;
constexpr f32 kLog2e = 0x1.715476p0f;
constexpr f32 kLog2eLow = 0x1.4ae0bep-26f;

// 2^(j/32) for j < 16 and j >= 16, each rounded to f32.
#define SN_POWERS_LOW                                                                             \
  (f32v{1.0f, 1.0218972f, 1.04427373f, 1.06714046f, 1.09050775f, 1.1143868f, 1.13878858f,         \
        1.1637249f, 1.18920708f, 1.21524739f, 1.24185777f, 1.26905096f, 1.29683959f, 1.32523668f, \
        1.35425556f, 1.38390994f})
#define SN_POWERS_HIGH                                                                            \
  (f32v{1.41421354f, 1.44518077f, 1.47682619f, 1.50916445f, 1.54221082f, 1.5759809f, 1.61049032f, \
        1.64575553f, 1.68179286f, 1.71861935f, 1.75625217f, 1.79470909f, 1.8340081f, 1.87416768f, \
        1.91520655f, 1.95714414f})

// 2^(n + f) for shifted = n + kRoundTo32nd, n a multiple of 1/32 and |f| <= 1/64.
SN_INLINE f32v power_in_32nds(f32v shifted, f32v n, f32v f) {
  f32v power = lookup32(shifted, SN_POWERS_LOW, SN_POWERS_HIGH);
  f32v p = mul_add(f, 0.240227103f, 0.693157375f);
  return scale_exponent(mul_add(power * f, p, power), n);
}
SN_INLINE f32v exp_clamped(f32v x) {
  f32v shifted = mul_add(x, kLog2e, kRoundTo32nd);
  f32v n = shifted - kRoundTo32nd;
  f32v f = mul_add(x, kLog2e, -n);
  return power_in_32nds(shifted, n, mul_add(x, kLog2eLow, f));
}
// Adding a negligible number replaces denormals, which processors multiply slowly.
SN_INLINE f32v exp(f32v x) {
  return exp_clamped(greatest(splat(-110.0f), least(splat(100.0f), 0x1p-60f + x)));
}
SN_INLINE f32v exp2(f32v x) {
  x = greatest(splat(-160.0f), least(splat(140.0f), 0x1p-60f + x));
  f32v shifted = x + kRoundTo32nd;
  f32v n = shifted - kRoundTo32nd;
  return power_in_32nds(shifted, n, x - n);
}

// While e^-x is normal, nothing needs to be replaced. Other lanes take a slower way, which gives
// their neighbours the same bits.
SN_INLINE f32v near_sigmoid(f32v x) { return 1 / (exp_clamped(0x1p-60f - x) + 1); }
static __attribute__((noinline)) f32v far_sigmoid(f32v x) {
  f32v z = exp(-magnitude(x));
  f32v y = sigmoid_of_power(x, z);
  return magnitude(x) <= 87 ? near_sigmoid(x) : y;
}
SN_INLINE f32v sigmoid(f32v x) {
  const bool is_far = any_greater((i32v)magnitude(x), (i32v)splat(87.0f));
  return __builtin_expect(is_far, 0) ? far_sigmoid(x) : near_sigmoid(x);
}

// (e^2|x| - 1) / (e^2|x| + 1), where e^2|x| - 1 = (t - 1) + t (2^f - 1) and t is a power of two
// times a table entry. The entry's rounding error is added to f, so that nothing is lost near 0.
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
  f32v f = mul_add(a, 2 * kLog2eLow, mul_add(a, 2 * kLog2e, -n)) -
           lookup32(shifted, lack_low, lack_high);
  f32v t = scale_exponent(lookup32(shifted, SN_POWERS_LOW, SN_POWERS_HIGH), n);
  f32v square = (f * f) * mul_add(f, 0.0555041097f, 0.240229264f);
  f32v e = mul_add(t, mul_add(f, 0.693147182f, square), t - 1.0f);
  f32v q = e / (e + 2.0f);
  return is_small ? x : with_sign(q, x);
}

#endif

}  // namespace sn
