// Integer division that rounds up.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter {

// For non-negative numbers.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

constexpr std::size_t round_up(std::size_t size, std::size_t to) {
  return (size + to - 1) / to * to;
}

}  // namespace sinter
