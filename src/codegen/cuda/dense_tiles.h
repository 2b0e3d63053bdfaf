// CudaDenseTiles: tiles whose rows follow each other in memory without gaps. A block reads and
// writes them as one run, 16 bytes per access, whatever the length of their rows; threads exchange
// the elements through shared memory. In: loads and stores. Out: text.
#pragma once

#include <cstdint>
#include <string>

#include "src/codegen/c_writer.h"
#include "src/codegen/cuda/values.h"

namespace sinter {

// Whether a load or store is of such a tile, of rows too short to be accessed by themselves.
bool is_dense_tile(const CudaValues& values, const tile::Instr& access);
// The shared memory that it takes, in bytes.
std::int64_t dense_tile_bytes(const CudaValues& values, const tile::Instr& access);

class CudaDenseTiles {
 public:
  CudaDenseTiles(const CudaValues& values, CWriter& code) : values_(values), code_(code) {}

  // Issues a block's loads of the tile. Then, in this order and before and after a barrier, hands
  // the elements over.
  void render_load(const tile::Instr& load, const std::string& reading) const;
  void render_puts(const tile::Instr& load) const;
  void render_gets(const tile::Instr& load) const;

  // Before a stage's loops, inside them for each element, and after them and a barrier.
  void declare_run(const tile::Instr& access) const;
  std::string put_text(const tile::Instr& store, const std::string& value) const;
  void render_store(const tile::Instr& store) const;

 private:
  struct Run;
  Run run_of(const tile::Instr& access) const;
  void open(const Run& run) const;
  std::string array(const tile::Instr& access) const;

  const CudaValues& values_;
  CWriter& code_;
};

}  // namespace sinter
