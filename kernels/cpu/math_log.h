// log, log2, log10 and log1p for generated CPU kernels, implemented for vectors. Zeros, infinities,
// NaN, negative and denormal numbers are handled by selects in every call, so they take no extra
// time. Needs types.h and math_call.h. Error bounds are in tests/kernels/cpu_vocabulary_test.cpp.

namespace sn {

SN_SCALAR1(log)
SN_SCALAR1(log2)
SN_SCALAR1(log10)
SN_SCALAR1(log1p)

// x = 2^n (1 + f), 1 + f from 3/4 to 3/2.
template <class P>
struct Mantissa {
  P n, f;
};
template <class P>
SN_INLINE Mantissa<P> split_normal(P x) {  // x must be positive
  auto least = either_bits<P>(0x3f400000, 0x3fe8000000000000);
  auto bits = (Bits<P>)x - least;
  auto fraction = (bits & either_bits<P>(0x7fffff, 0xfffffffffffff)) + least;
  P n;
  if constexpr (kNarrow<P>) {
    n = __builtin_convertvector(bits >> 23, P);
  } else {  // few processors convert i64: the exponent becomes the last bits of 2^52 + n + 1023
    typedef __attribute__((vector_size(sizeof(P)))) u64 Unsigned;
    Unsigned biased = (Unsigned)(bits + splat<Bits<P>>(0x3ff0000000000000)) >> 52;
    n = (P)(biased | 0x4330000000000000) - (0x1p52 + 1023);
  }
  return {n, (P)fraction - 1};
}
#if SN_AVX512
template <class P>
SN_INLINE P whole_log2(P x) {
  P n;
  if constexpr (kNarrow<P>)
    asm("vgetexpps %1, %0" : "=v"(n) : "v"(x));
  else
    asm("vgetexppd %1, %0" : "=v"(n) : "v"(x));
  return n;
}
template <class P>
SN_INLINE Mantissa<P> split_mantissa(P x) {
  P m;
  if constexpr (kNarrow<P>)
    asm("vgetmantps $3, %1, %0" : "=v"(m) : "v"(x));
  else
    asm("vgetmantpd $3, %1, %0" : "=v"(m) : "v"(x));
  return {whole_log2(x) - whole_log2(m), m - 1};
}
// y, but -infinity if x is 0, x if it is infinite, NaN if it is negative or NaN: four bits of the
// table select the result for each class of x.
template <class P>
SN_INLINE P log_or_special(P y, P x) {
  auto table = splat<Bits<P>>(0x03530422);
  if constexpr (kNarrow<P>)
    asm("vfixupimmps $0, %2, %1, %0" : "+v"(y) : "v"(x), "v"(table));
  else
    asm("vfixupimmpd $0, %2, %1, %0" : "+v"(y) : "v"(x), "v"(table));
  return y;
}
#else
template <class P>
SN_INLINE Mantissa<P> split_mantissa(P x) {
  auto denormal = x < either<P>(0x1p-126, 0x1p-1022);  // or not positive
  auto [n, f] = split_normal(denormal ? denormal_digits(x) : x);
  return {n - (denormal ? either<P>(149, 1074) : P{}), f};
}
template <class P>
SN_INLINE P log_or_special(P y, P x) {
  P below = x == P{} ? -infinity<P>() : not_a_number<P>();
  return x > P{} ? x < infinity<P>() ? y : x : below;
}
#endif

// log(1 + f): f - f^2 / 2 + ...
template <class P>
SN_INLINE P log_of_mantissa(P f) {
  P ff = f * f;
  if constexpr (kNarrow<P>) {
    P even = series(ff, 0.333334494, 0.199908456, 0.144784975, 0.104644688);
    P odd = series(ff, -0.250000971, -0.166472387, -0.131621285, -0.0450808454);
    return f + mul_add(mul_add(odd, f, even), f * ff, ff * -0.5f);
  } else {  // with s = f / (2 + f), as log(1 + f) = log(1 + s) - log(1 - s)
    P s = f / (f + 2), z = s * s;
    P r =
        series(z, 0.6666666666666666, 0.40000000000008057, 0.28571428567230406, 0.22222223055173226,
               0.18181737139699564, 0.15388885620013115, 0.13209384897572005, 0.1361133564109599);
    P half = ff * 0.5;
    return f - (half - s * mul_add(r, z, half));
  }
}

// n log(2) and log(1 + f) in a base: log(2) is `high` + `low`, and `high` has so few digits that
// its product with n is exact.
struct LogBase {
  f64 high, low, unit;
};
template <class P>
SN_INLINE P log_in_base(P n, P f, const LogBase& narrow, const LogBase& wide) {
  const LogBase& base = kNarrow<P> ? narrow : wide;
  P y = mul_add(log_of_mantissa(f), base.unit, n * splat<P>(base.low));
  return mul_add(n, base.high, y);
}
template <class P>
SN_INLINE P log_of(P x, const LogBase& narrow, const LogBase& wide) {
  auto [n, f] = split_mantissa(x);
  return log_or_special(log_in_base(n, f, narrow, wide), x);
}
constexpr LogBase kNarrowE = {0.693359375, -2.12194440e-4, 1};
constexpr LogBase kWideE = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33, 1};
template <class P>
SN_INLINE P log_of_part(P x) {
  return log_of(x, kNarrowE, kWideE);
}
template <class P>
SN_INLINE P log2_of_part(P x) {
  constexpr LogBase base = {1, 0, 1.4426950408889634};
  return log_of(x, base, base);
}
template <class P>
SN_INLINE P log10_of_part(P x) {
  constexpr f64 unit = 0.4342944819032518;
  return log_of(x, {0.30078125, 2.48745663981195213739e-4, unit},
                {3.01029995663611771306e-01, 3.69423907715893078616e-13, unit});
}

// log(u) with u = 1 + x rounded; the rounding error is added to f.
template <class P>
SN_INLINE P log1p_of_part(P x) {
  auto tiny = magnitude(x) < negligible<P>();
  P ordinary = tiny ? P{} : x, u = ordinary + 1;
  P lack = ordinary > 1 ? 1 - (u - ordinary) : ordinary - (u - 1);
  auto [n, f] = split_normal(u);
  f += n < 60 ? lack * power_of_two(-n) : P{};
  return tiny ? x : log_or_special(log_in_base(n, f, kNarrowE, kWideE), u);
}
SN_IN_PARTS1(log)
SN_IN_PARTS1(log2)
SN_IN_PARTS1(log10)
SN_IN_PARTS1(log1p)

}  // namespace sn
