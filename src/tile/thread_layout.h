// ThreadLayout: how tiles are distributed over the threads of a GPU block. In: a mapping. Out: for
// a tile shape, the elements each thread holds, and the shared memory for exchange and prefetch.
//
// A thread has coordinates (thread_row, thread_col) in its block. Of a (rows, cols) tile it holds
// the rows r * thread_rows + thread_row, r = 0, 1, ..; in each, the vectors that start at column
// ((rank * col_steps + k) * threads_per_row + thread_col) * vector, k = 0, 1, ..; rank is the
// block's rank in its cluster. Elements outside the tile are masked off. A tile with one row is
// replicated in all rows of threads, a tile with one column in all columns.
#pragma once

#include <cstdint>

#include "src/tile/program.h"

namespace sinter::tile {

inline constexpr int kWarpThreads = 32;
// The limits of a Mapping.
inline constexpr int kMostThreads = 1024;  // of a block
inline constexpr int kWidestVector = 8;    // elements
inline constexpr int kLargestCluster = 8;  // every GPU with clusters can run it
inline constexpr int kMostBlocksAtOnce = 64;
inline constexpr int kMostPrefetch = 8;

class ThreadLayout {
 public:
  explicit ThreadLayout(const Mapping& mapping) : mapping_(mapping) {}

  const Mapping& mapping() const { return mapping_; }
  int threads() const { return mapping_.threads; }
  int threads_per_row() const { return mapping_.threads_per_row; }
  int thread_rows() const { return mapping_.threads / mapping_.threads_per_row; }
  int vector() const { return mapping_.vector; }
  int cluster() const { return mapping_.cluster; }
  bool is_persistent() const { return mapping_.prefetch > 0; }

  int row_steps(TileShape shape) const;
  int col_steps(TileShape shape) const;
  int elements(TileShape shape) const;  // per thread
  // Whether the threads divide the tile evenly, so that nothing needs masking.
  bool rows_exact(TileShape shape) const;
  bool cols_exact(TileShape shape) const;

  // Bytes of shared memory for the part of a tile that a block's threads hold.
  std::int64_t block_bytes(TileShape shape, int element_bytes) const;

  // Whether a row spans several warps or blocks: each warp then writes its partial reduction to a
  // slot in shared memory.
  bool needs_slots() const;
  int slot_rows(TileShape shape) const { return row_steps(shape) * thread_rows(); }
  // Slots in each block for one reduction of a tile of this shape.
  int slots(TileShape shape) const;
  // Number of slot buffers. Persistent blocks double-buffer: a thread may already run the next
  // program while others still read the last one's slots.
  int slot_turns() const { return is_persistent() ? 2 : 1; }

 private:
  Mapping mapping_;
};

}  // namespace sinter::tile
