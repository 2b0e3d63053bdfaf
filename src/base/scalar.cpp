// Conversion of scalars to a dtype.
#include "src/base/scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "src/base/check.h"

namespace sinter {

Scalar Scalar::as(DType dtype) const {
  switch (dtype) {
    case DType::f32:
      return of(static_cast<double>(static_cast<float>(real)));
    case DType::f16:
      return of(static_cast<double>(f16_to_f32(f32_to_f16(static_cast<float>(real)))));
    case DType::bf16:
      return of(static_cast<double>(bf16_to_f32(f32_to_bf16(static_cast<float>(real)))));
    case DType::f64:
      return of(real);
    case DType::boolean:
      return of(static_cast<std::int64_t>(is_real ? real != 0 : integer != 0));
    default:
      break;
  }
  std::int64_t whole = integer;
  if (is_real) {
    constexpr double kLimit = 9223372036854775808.0;
    if (std::isnan(real))
      whole = 0;
    else if (real >= kLimit)
      whole = std::numeric_limits<std::int64_t>::max();
    else if (real < -kLimit)
      whole = std::numeric_limits<std::int64_t>::min();
    else
      whole = static_cast<std::int64_t>(real);
  }
  // As in kernels, reals saturate and integers keep their low bits.
  if (dtype == DType::i32 && is_real)
    whole = std::clamp<std::int64_t>(whole, std::numeric_limits<std::int32_t>::min(),
                                     std::numeric_limits<std::int32_t>::max());
  if (dtype == DType::i32) whole = static_cast<std::int32_t>(whole);
  return of(whole);
}

bool same_bits(const Scalar& a, const Scalar& b) {
  return a.is_real == b.is_real && a.integer == b.integer &&
         std::bit_cast<std::uint64_t>(a.real) == std::bit_cast<std::uint64_t>(b.real);
}

std::string to_string(const Scalar& scalar) {
  return scalar.is_real ? fmt::format("{}", scalar.real) : fmt::format("{}", scalar.integer);
}

}  // namespace sinter
