// CudaTransposedTiles: loads that are contiguous along the tile's rows. A block reads the tile's
// columns, and its threads take the elements of their rows from shared memory. In: loads. Out:
// text.
#pragma once

#include <cstdint>
#include <string>

#include "src/codegen/c_writer.h"
#include "src/codegen/cuda/values.h"

namespace sinter {

// Whether a load is of such a tile.
bool is_transposed_tile(const CudaValues& values, const tile::Instr& load);
// The shared memory that it takes, in bytes.
std::int64_t transposed_tile_bytes(const CudaValues& values, const tile::Instr& load);
// The alignment that its accesses need, in elements.
int transposed_tile_alignment(const CudaValues& values, const tile::Instr& load);

class CudaTransposedTiles {
 public:
  CudaTransposedTiles(const CudaValues& values, CWriter& code) : values_(values), code_(code) {}

  // Issues a block's loads of the tile. `other`: the value of masked-off elements.
  void render_load(const tile::Instr& load, const std::string& reading,
                   const std::string& other) const;
  // Writes the tile to shared memory.
  void render_puts(const tile::Instr& load, const std::string& other) const;
  // The element at `row` and `col`, after a barrier.
  std::string element(const tile::Instr& load) const;

 private:
  void render_uneven_load(const tile::Instr& load, const std::string& reading) const;
  std::string array(const tile::Instr& load) const;

  const CudaValues& values_;
  CWriter& code_;
};

}  // namespace sinter
