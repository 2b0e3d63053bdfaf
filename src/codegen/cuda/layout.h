// CudaLayout: how a program's tiles lie on the threads of a block. In: the program and its mapping.
// Out: for a tile's shape, what each thread holds of it.
//
// A thread has a place (thread_row, thread_col) in the block. Of a (rows, cols) tile it holds the
// rows r * thread_rows + thread_row, r = 0, 1, ..; of each the vectors that begin at column
// ((rank * col_steps + k) * threads_per_row + thread_col) * vector, k = 0, 1, ..; rank is the
// block's place in its cluster. Threads that would stand outside the tile are kept from touching
// memory. What has one row is held alike by all rows of threads, what has one column by all
// columns.
#pragma once

#include "src/tile/program.h"

namespace sinter {

class CudaLayout {
 public:
  explicit CudaLayout(const tile::TileProgram& program);

  const tile::Mapping& mapping() const { return mapping_; }
  int threads_per_row() const { return mapping_.threads_per_row; }
  int thread_rows() const { return mapping_.threads / mapping_.threads_per_row; }
  int vector() const { return mapping_.vector; }
  int cluster() const { return mapping_.cluster; }
  bool is_persistent() const { return mapping_.ahead > 0; }

  int row_steps(tile::TileShape shape) const;
  int col_steps(tile::TileShape shape) const;
  int elements(tile::TileShape shape) const;  // that a thread holds
  // No thread stands outside the tile.
  bool rows_exact(tile::TileShape shape) const;
  bool cols_exact(tile::TileShape shape) const;

 private:
  tile::Mapping mapping_;
};

}  // namespace sinter
