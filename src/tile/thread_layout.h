// ThreadLayout: how tiles lie on the threads of a GPU's block. In: a mapping. Out: for a tile's
// shape, what each thread holds of it, and what a block needs to exchange and fetch it.
//
// A thread has a place (thread_row, thread_col) in the block. Of a (rows, cols) tile it holds the
// rows r * thread_rows + thread_row, r = 0, 1, ..; of each the vectors that begin at column
// ((rank * col_steps + k) * threads_per_row + thread_col) * vector, k = 0, 1, ..; rank is the
// block's place in its cluster. Threads that would stand outside the tile are kept from touching
// memory. What has one row is held alike by all rows of threads, what has one column by all
// columns.
#pragma once

#include <cstdint>

#include "src/tile/program.h"

namespace sinter::tile {

inline constexpr int kWarpThreads = 32;
inline constexpr int kMostThreads = 1024;  // of a block

class ThreadLayout {
 public:
  explicit ThreadLayout(const Mapping& mapping) : mapping_(mapping) {}

  const Mapping& mapping() const { return mapping_; }
  int threads() const { return mapping_.threads; }
  int threads_per_row() const { return mapping_.threads_per_row; }
  int thread_rows() const { return mapping_.threads / mapping_.threads_per_row; }
  int vector() const { return mapping_.vector; }
  int cluster() const { return mapping_.cluster; }
  bool is_persistent() const { return mapping_.ahead > 0; }

  int row_steps(TileShape shape) const;
  int col_steps(TileShape shape) const;
  int elements(TileShape shape) const;  // that a thread holds
  // No thread stands outside the tile.
  bool rows_exact(TileShape shape) const;
  bool cols_exact(TileShape shape) const;

  // What the threads of a block hold of a tile, in bytes of shared memory.
  std::int64_t block_bytes(TileShape shape, int element_bytes) const;

  // Whether a row's threads are more than a warp, or in several blocks: then each warp leaves its
  // part of a reduction in a slot of shared memory.
  bool needs_slots() const;
  int slot_rows(TileShape shape) const { return row_steps(shape) * thread_rows(); }
  // Of one reduction of such tiles, in every block.
  int slots(TileShape shape) const;
  // A thread may be a program ahead of others, which still read the last one's slots.
  int slot_turns() const { return is_persistent() ? 2 : 1; }

 private:
  Mapping mapping_;
};

}  // namespace sinter::tile
