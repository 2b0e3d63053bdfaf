// sin, cos and tan of generated CPU kernels: calls, but sin and cos are inline for 16 f32 lanes
// with AVX-512. Large angles are reduced here before the call. Needs types.h and math_call.h, which
// says why lanes are replaced. Error bounds stand in tests/kernels/cpu_vocabulary_test.cpp.

namespace sn {

SN_CALL1(sin)
SN_CALL1(cos)
SN_CALL1(tan)

// Angles up to which the functions need no help, and from which the reduction here is not exact.
constexpr f32 kLargeAngle = 1e4f;
constexpr f32 kHugeAngle = 0x1p40f;

template <class V>
SN_INLINE bool any_large_angle(V m) {
  return any_lane((m > splat<V>(kLargeAngle)) & (m < infinity<V>()));
}

// x = (n + offset) step + rest; the lowest bit of `odd` is that of n.
template <class V>
struct Reduced {
  V rest;
  V odd;
};
struct AngleStep {  // pi or pi / 2 in three parts
  f64 inverse, high, middle, low;
};
constexpr AngleStep kPi = {0.3183098861837907, 0x1.921fb54442d18p1, 0x1.1a62633145c07p-53,
                           -0x1.f1976b7ed8fbcp-109};
constexpr AngleStep kHalfPi = {0.6366197723675814, 0x1.921fb54442d18p0, 0x1.1a62633145c07p-54,
                               -0x1.f1976b7ed8fbcp-110};

// Exact but for the last rounding: x - n high needs no more digits than x has, as both are
// multiples of 2^-52 at least, and fma rounds the rest once a part.
SN_INLINE f64part reduce_part(f64part x, f64 offset, const AngleStep& step, f64part* odd) {
  auto minus_product = [](f64part c, f64part n, f64 b) {
#ifdef __FMA__
    f64part part = b - f64part{};
    asm("vfnmadd231pd %2, %1, %0" : "+v"(c) : "v"(n), "v"(part));
#else
    for (int i = 0; i < SN_F64_PART; ++i) c[i] = __builtin_fma(-n[i], b, c[i]);
#endif
    return c;
  };
  *odd = (x * step.inverse - offset) + 0x1.8p52;
  f64part n = (*odd - 0x1.8p52) + offset;
  x = minus_product(x, n, step.high);
  x = minus_product(x, n, step.middle);
  return minus_product(x, n, step.low);
}

typedef __attribute__((vector_size(SN_F64_PART * 4))) f32 f32_of_part;
typedef __attribute__((vector_size(SN_F64_PART * 4))) i32 i32_of_part;
typedef __attribute__((vector_size(SN_F64_PART * 8))) i64 i64_of_part;

SN_INLINE Reduced<f32v> reduced(f32v x, f64 offset, const AngleStep& step) {
  Reduced<f32v> r;
  for (int first = 0; first < SN_LANES; first += SN_F64_PART) {
    f32_of_part part;
    f64part odd;
    __builtin_memcpy(&part, (f32*)&x + first, sizeof part);
    part = __builtin_convertvector(
        reduce_part(__builtin_convertvector(part, f64part), offset, step, &odd), f32_of_part);
    __builtin_memcpy((f32*)&r.rest + first, &part, sizeof part);
    i32_of_part bits = __builtin_convertvector((i64_of_part)odd, i32_of_part);
    __builtin_memcpy((f32*)&r.odd + first, &bits, sizeof bits);
  }
  return r;
}
SN_INLINE Reduced<f64v> reduced(f64v x, f64 offset, const AngleStep& step) {
  Reduced<f64v> r;
  for (int first = 0; first < SN_LANES; first += SN_F64_PART) {
    f64part part, odd;
    __builtin_memcpy(&part, (f64*)&x + first, sizeof part);
    part = reduce_part(part, offset, step, &odd);
    __builtin_memcpy((f64*)&r.rest + first, &part, sizeof part);
    __builtin_memcpy((f64*)&r.odd + first, &odd, sizeof odd);
  }
  return r;
}
SN_INLINE auto is_odd(f32v odd) { return ((i32v)odd << 31) != i32v{}; }
SN_INLINE auto is_odd(f64v odd) { return ((i64v)odd << 63) != i64v{}; }

// The functions where some lane has a large angle. The calls do huge ones lane by lane.
template <class V>
SN_INLINE V sin_of_reduced(Reduced<V> r) {
  auto is_small = magnitude(r.rest) < small<V>();
  V y = call_sin(is_small ? V{} + 1 : r.rest);
  y = is_small ? r.rest : y;
  return is_odd(r.odd) ? -y : y;
}
#define SN_FAR_ANGLES(name, offset, step, of_reduced)                   \
  template <class V>                                                    \
  static __attribute__((noinline)) V far_##name(V x) {                  \
    V m = magnitude(x);                                                 \
    auto ordinary = m < splat<V>(kHugeAngle);                           \
    V y = of_reduced(reduced(ordinary ? x : V{}, offset, step));        \
    y = ordinary ? y : not_a_number<V>();                               \
    auto huge = (m >= splat<V>(kHugeAngle)) & (m < infinity<V>());      \
    if (any_lane(huge)) y = huge ? call_##name(huge ? x : V{} + 1) : y; \
    return y;                                                           \
  }
template <class V>
SN_INLINE V tan_of_reduced(Reduced<V> r) {
  auto is_small = magnitude(r.rest) < small<V>();
  V y = call_tan(is_small ? V{} + 1 : r.rest);
  y = is_small ? r.rest : y;
  return is_odd(r.odd) ? -1 / y : y;
}
SN_FAR_ANGLES(sin, 0, kPi, sin_of_reduced)
SN_FAR_ANGLES(cos, -0.5, kPi, sin_of_reduced)
SN_FAR_ANGLES(tan, 0, kHalfPi, tan_of_reduced)
#undef SN_FAR_ANGLES

#if SN_AVX512 && SN_LANES == 16

// sin(x - n pi), negated when the lowest bit of `odd` is set; |x - n pi| is at most pi / 2.
SN_INLINE f32v sin_reduced(f32v x, f32v n, f32v odd) {
  // The parts of pi are all positive, and the sum of the series is a factor: so -0 stays -0.
  f32v r = mul_add(n, -3.1415925f, x);
  r = mul_add(n, -1.50995788e-07f, r);
  r = mul_add(n, -1.07806057e-14f, r);
  f32v z = r * r;
  f32v p = mul_add(z, 2.60563115e-06f, -0.000198095397f);
  p = mul_add(mul_add(p, z, 0.00833306555f), z, -0.166666597f);
  f32v s = r * mul_add(p, z, 1.0f);
  return (f32v)((i32v)s ^ ((i32v)odd << 31));
}
SN_INLINE f32v inline_sin(f32v x) {
  f32v odd = mul_add(x, 0.318309886f, 0x1.8p23f);
  return sin_reduced(x, odd - 0x1.8p23f, odd);
}
SN_INLINE f32v inline_cos(f32v x) {  // sin(x + pi / 2), so n lies halfway between integers
  f32v odd = mul_add(x, 0.318309886f, 0.5f) + 0x1.8p23f;
  return sin_reduced(x, (odd - 0x1.8p23f) - 0.5f, odd);
}

#else

SN_INLINE f32v inline_sin(f32v x) { return call_sin(x); }
SN_INLINE f32v inline_cos(f32v x) { return call_cos(x); }

#endif

SN_INLINE f64v inline_sin(f64v x) { return call_sin(x); }
SN_INLINE f64v inline_cos(f64v x) { return call_cos(x); }
template <class V>
SN_INLINE V inline_tan(V x) {
  return call_tan(x);
}

#define SN_ANGLE_FUNCTION(name, least, of_small)                         \
  template <class V>                                                     \
  SN_INLINE V name(V x) {                                                \
    V m = magnitude(x), one = V{} + 1;                                   \
    auto usual = is_within(m, least<V>(), splat<V>(kLargeAngle));        \
    if (__builtin_expect(!any_lane(~usual), 1)) return inline_##name(x); \
    if (any_large_angle(m)) return far_##name(x);                        \
    V y = inline_##name(usual ? x : one);                                \
    return usual ? y : m < one ? of_small : not_a_number<V>();           \
  }
SN_ANGLE_FUNCTION(sin, small, x)
SN_ANGLE_FUNCTION(cos, negligible, one)
SN_ANGLE_FUNCTION(tan, small, x)
#undef SN_ANGLE_FUNCTION

}  // namespace sn
