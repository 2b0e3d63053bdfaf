// Accesses to memory, as far as lowering and rendering have to agree on them.
#pragma once

#include <cstdint>

namespace sinter::tile {

// The widest access of a GPU's thread: a pack.
inline constexpr int kPackBytes = 16;

// Whether so many neighbouring elements are whole packs.
constexpr bool fill_packs(int elements, int element_bytes) {
  return elements * element_bytes >= kPackBytes;
}

// Tiles that are contiguous along their rows are transposed on the way in from this height on;
// below it, they are loaded element by element.
inline constexpr std::int64_t kLeastTransposedRows = 8;

}  // namespace sinter::tile
