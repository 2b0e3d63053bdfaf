// The interpreter: runs a TileProgram instruction by instruction and checks every access against
// its buffer's bounds. It is the oracle for testing the code generators, and the fallback if there
// is no compiler.
#pragma once

#include <cstdint>
#include <span>

#include "src/tile/program.h"

namespace sinter::tile {

struct BufferBinding {
  void* data = nullptr;
  std::int64_t elements = 0;  // from data on
};

// Runs the programs first <= id < last. `scalars` holds i64 values, or the bits of f64 values.
// An access outside its buffer throws InternalError naming the program, the buffer and the offset.
void interpret(const TileProgram& program, std::span<const BufferBinding> buffers,
               std::span<const std::int64_t> scalars, std::int64_t first, std::int64_t last);

}  // namespace sinter::tile
