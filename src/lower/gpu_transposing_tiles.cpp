// Few rows or columns make long tiles; strides decide the order of the blocks.
#include "src/lower/gpu_transposing_tiles.h"

#include <algorithm>

#include "src/tile/access.h"
#include "src/tile/thread_layout.h"

namespace sinter {

using tile::kMostThreads;
using tile::kWarpThreads;
using tile::Mapping;

namespace {

constexpr std::int64_t kLongestTile = 1024;       // rows
constexpr std::int64_t kWidestTile = 256;         // columns, beside few rows
constexpr std::int64_t kLargeStride = 128 << 10;  // bytes; from here on the block order matters
constexpr std::int64_t kDenseBytes = 36 << 10;    // of all tensors' tiles in shared memory
constexpr std::int64_t kFewDenseRows = 64;
constexpr std::int64_t kDenseThreads = 256;

// Whether a tensor has elements along both axes of a tile.
bool fills_tiles(const Access& access, int col_axis, int row_axis) {
  return GpuFacts::is_memory(access) && access.stride(col_axis) != 0 &&
         access.stride(row_axis) != 0;
}

// Consecutive blocks are adjacent along a row, whose lines they share, unless only the transposed
// tensors have large strides and these are whole pages (judgement: such columns compete for the
// same sets of a cache). f32 sum with transposed operands, 235205x477, along the rows rather than
// down the columns: 607 to 435 us on an H200.
bool gains_from_rows_first(const GpuFacts& facts, int col_axis, int row_axis) {
  constexpr std::int64_t kPage = 4096;
  const LargeStrides large = large_strides(facts, col_axis, row_axis);
  return large.transposed && !large.others && facts.widest_step(col_axis, row_axis) % kPage == 0;
}

}  // namespace

LargeStrides large_strides(const GpuFacts& facts, int col_axis, int row_axis) {
  return {facts.widest_step(col_axis, row_axis) >= kLargeStride,
          facts.widest_step(row_axis, col_axis) >= kLargeStride};
}

Tiling transposing_tiling(const GpuFacts& facts, int col_axis, int row_axis, std::int64_t rows,
                          std::int64_t cols, int each) {
  Tiling tiling;
  tiling.col_axis = col_axis;
  tiling.row_axis = row_axis;
  tiling.rows_first = gains_from_rows_first(facts, col_axis, row_axis);
  // Where there are few rows or columns, a tile has more of the others.
  const std::int64_t area = rows * cols;
  const std::int64_t most_rows =
      std::max(power_above(facts.size(row_axis)), tile::kLeastTransposedRows);
  const std::int64_t most_cols = power_above(facts.size(col_axis));
  tiling.tile_cols = std::min(cols, most_cols);
  tiling.tile_rows = std::min({area / tiling.tile_cols, most_rows, kLongestTile});
  tiling.tile_cols = std::min({area / tiling.tile_rows, most_cols, kWidestTile});
  Mapping& mapping = tiling.mapping;
  const Vectors cut = facts.vectors_along(col_axis);
  mapping.vector = cut.width;
  tiling.aligned_to = cut.aligned_to;
  while (tiling.tile_cols % mapping.vector != 0) mapping.vector /= 2;
  mapping.threads_per_row = static_cast<int>(tiling.tile_cols / mapping.vector);
  mapping.threads = static_cast<int>(
      std::clamp<std::int64_t>(tiling.tile_cols * tiling.tile_rows / each,
                               std::max(kWarpThreads, mapping.threads_per_row), kMostThreads));
  return tiling;
}

std::optional<Tiling> dense_transposing_tiling(const GpuFacts& facts) {
  if (facts.space.axes.empty()) return std::nullopt;
  const int col_axis = facts.space.axes.end_id() - 1;
  const int row_axis = facts.crossing(col_axis);
  if (row_axis < 0 || !facts.has_short_uneven_rows(col_axis)) return std::nullopt;
  const std::int64_t cols = facts.size(col_axis);
  std::int64_t row_bytes = 0;
  for (const Access& access : facts.space.accesses) {
    if (!fills_tiles(access, col_axis, row_axis)) continue;
    const bool is_dense = access.stride(col_axis) == 1 && access.stride(row_axis) == cols &&
                          access.windows.empty() && !access.split;
    if (!is_dense && (access.write || access.stride(row_axis) != 1)) return std::nullopt;
    row_bytes += cols * access.element_bytes;
  }
  Tiling tiling;
  tiling.col_axis = col_axis;
  tiling.row_axis = row_axis;
  tiling.dense_rows = true;
  tiling.tile_cols = cols;
  tiling.tile_rows = std::min(kLongestTile, power_above(facts.size(row_axis)));
  const auto blocks = [&] { return facts.elements() / (cols * tiling.tile_rows); };
  while (tiling.tile_rows * row_bytes > kDenseBytes ||
         (tiling.tile_rows > kFewDenseRows && blocks() < 2L * facts.machine.multiprocessors))
    tiling.tile_rows /= 2;
  if (tiling.tile_rows < kWarpThreads || blocks() < facts.machine.multiprocessors)
    return std::nullopt;
  Mapping& mapping = tiling.mapping;
  mapping.threads_per_row = 1;
  while (cols % (2 * mapping.threads_per_row) == 0) mapping.threads_per_row *= 2;
  mapping.threads =
      static_cast<int>(std::min(kDenseThreads, tiling.tile_rows * mapping.threads_per_row));
  return tiling;
}

}  // namespace sinter
