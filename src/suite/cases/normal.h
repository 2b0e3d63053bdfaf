// Normally distributed numbers, fast and reproducible: number i of a seed is a pure function of
// both, so any thread can generate any part.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sinter::suite {

std::uint64_t seed_of(std::string_view text);

// Numbers first, first + 1, ... of the seed.
void fill_normal(std::uint64_t seed, std::int64_t first, std::span<float> values);

}  // namespace sinter::suite
