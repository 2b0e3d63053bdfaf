// Element: the value of one element of any dtype, with exact conversion to C++ types.
#pragma once

#include <sinter/dtype.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace sinter {

// Floats are held in `real`, integers and bools in `integer`; both are exact.
struct Element {
  double real = 0;
  std::int64_t integer = 0;
  bool is_real = false;
};

namespace detail {

template <typename T>
std::optional<T> exact_integer(std::int64_t value) {
  const T converted = static_cast<T>(value);
  const bool same =
      static_cast<std::int64_t>(converted) == value && (converted < T{}) == (value < 0);
  return same ? std::optional<T>(converted) : std::nullopt;
}

}  // namespace detail

// The value as T: an arithmetic type, Half or BFloat16. nullopt if T cannot hold it exactly; NaN
// stays NaN.
template <typename T>
std::optional<T> exactly(const Element& element) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if constexpr (std::is_integral_v<T>) {
    if (!element.is_real) return detail::exact_integer<T>(element.integer);
    if (!(element.real >= -kLimit && element.real < kLimit) ||
        std::trunc(element.real) != element.real)
      return std::nullopt;
    return detail::exact_integer<T>(static_cast<std::int64_t>(element.real));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (element.is_real) {
      const T converted = static_cast<T>(element.real);
      const bool same = std::isnan(element.real) || static_cast<double>(converted) == element.real;
      return same ? std::optional<T>(converted) : std::nullopt;
    }
    const T converted = static_cast<T>(element.integer);
    const bool same =
        static_cast<long double>(converted) == static_cast<long double>(element.integer);
    return same ? std::optional<T>(converted) : std::nullopt;
  } else {  // 16-bit floats
    const std::optional<float> wide = exactly<float>(element);
    if (!wide) return std::nullopt;
    const T converted(*wide);
    const bool same = std::isnan(*wide) || static_cast<float>(converted) == *wide;
    return same ? std::optional<T>(converted) : std::nullopt;
  }
}

}  // namespace sinter
