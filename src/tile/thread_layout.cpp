// Steps are rounded up: the last step may lie partly outside the tile.
#include "src/tile/thread_layout.h"

#include <algorithm>

#include "src/base/rounding.h"

namespace sinter::tile {

int ThreadLayout::row_steps(TileShape shape) const {
  return static_cast<int>(ceil_div(shape.rows, thread_rows()));
}

int ThreadLayout::col_steps(TileShape shape) const {
  const std::int64_t at_once = std::int64_t{threads_per_row()} * vector() * cluster();
  return static_cast<int>(ceil_div(shape.cols, at_once));
}

int ThreadLayout::elements(TileShape shape) const {
  return row_steps(shape) * (shape.cols == 1 ? 1 : col_steps(shape) * vector());
}

bool ThreadLayout::rows_exact(TileShape shape) const {
  return shape.rows == 1 || shape.rows % thread_rows() == 0;
}

bool ThreadLayout::cols_exact(TileShape shape) const {
  return shape.cols == 1 ||
         shape.cols % (std::int64_t{threads_per_row()} * vector() * cluster()) == 0;
}

std::int64_t ThreadLayout::block_bytes(TileShape shape, int element_bytes) const {
  return std::int64_t{elements(shape)} * element_bytes * threads();
}

bool ThreadLayout::needs_slots() const { return threads_per_row() > kWarpThreads || cluster() > 1; }

int ThreadLayout::slots(TileShape shape) const {
  if (!needs_slots()) return 0;
  return slot_rows(shape) * std::max(1, threads_per_row() / kWarpThreads) * cluster();
}

}  // namespace sinter::tile
