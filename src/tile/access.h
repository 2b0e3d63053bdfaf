// Properties of memory accesses that lowering and rendering must agree on.
#pragma once

#include <cstdint>

namespace sinter::tile {

// The widest access of a GPU thread, called a pack.
inline constexpr int kPackBytes = 16;

// Whether that many contiguous elements fill at least one pack.
constexpr bool fill_packs(int elements, int element_bytes) {
  return elements * element_bytes >= kPackBytes;
}

// Tiles of at least this many rows that are contiguous along the row axis are transposed while
// loading; smaller ones are loaded element by element.
inline constexpr std::int64_t kLeastTransposedRows = 8;

}  // namespace sinter::tile
