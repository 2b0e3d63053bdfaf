// A thread loads 16-byte vectors of contiguous data, and enough of them to hide latency.
#include "src/lower/gpu_pointwise_configs.h"

#include <algorithm>

#include "src/base/rounding.h"
#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

using tile::kMostThreads;
using tile::kWarpThreads;
using tile::Mapping;

constexpr int kSharedRows = 4;  // rows per thread, to reuse a shared operand
constexpr int kPointwiseThreads = 128;
constexpr std::int64_t kTransposeTile = 64;
constexpr std::int64_t kSmallTransposeTile = 32;
constexpr std::int64_t kLargeStride = 128 << 10;  // bytes; from here on the block order matters

// Whether the transposed tensors, and the others, have large strides between rows.
struct LargeStrides {
  bool transposed;
  bool others;
};
LargeStrides large_strides(const GpuFacts& facts, int col_axis, int row_axis) {
  return {facts.widest_step(col_axis, row_axis) >= kLargeStride,
          facts.widest_step(row_axis, col_axis) >= kLargeStride};
}

// Tiles of `rows` by `cols`, with `each` elements per thread. Consecutive blocks are adjacent along
// the columns, unless only the transposed tensors have large strides (measured on an H200).
Tiling transposing_tiling(const GpuFacts& facts, int col_axis, int row_axis, std::int64_t rows,
                          std::int64_t cols, int each) {
  Tiling tiling;
  tiling.col_axis = col_axis;
  tiling.row_axis = row_axis;
  const LargeStrides large = large_strides(facts, col_axis, row_axis);
  tiling.rows_first = large.transposed && !large.others;
  tiling.tile_cols = std::min(cols, power_above(facts.size(col_axis)));
  tiling.tile_rows = std::min(rows, power_above(facts.size(row_axis)));
  Mapping& mapping = tiling.mapping;
  mapping.vector = facts.vector_along(col_axis);
  while (tiling.tile_cols % mapping.vector != 0) mapping.vector /= 2;
  mapping.threads_per_row = static_cast<int>(tiling.tile_cols / mapping.vector);
  mapping.threads = static_cast<int>(
      std::clamp<std::int64_t>(tiling.tile_cols * tiling.tile_rows / each,
                               std::max(kWarpThreads, mapping.threads_per_row), kMostThreads));
  return tiling;
}

// Uses small tiles if large ones would leave multiprocessors idle. For 16-bit elements the limit is
// half as many tiles, because their lines become short. Tiles are half as wide if all strides are
// large: more, smaller blocks hide more latency (7% faster on an H200).
Tiling best_transposing(const GpuFacts& facts, int col_axis, int row_axis) {
  const bool is_narrow = facts.is_narrow();
  const std::int64_t tiles = facts.elements() / (kTransposeTile * kTransposeTile);
  if (tiles < (is_narrow ? 2 : 4) * facts.machine.multiprocessors)
    return transposing_tiling(facts, col_axis, row_axis, kSmallTransposeTile, kSmallTransposeTile,
                              8);
  const LargeStrides large = large_strides(facts, col_axis, row_axis);
  const bool is_half = large.transposed && large.others && !is_narrow;
  return transposing_tiling(facts, col_axis, row_axis, kTransposeTile,
                            is_half ? kTransposeTile / 2 : kTransposeTile, 16);
}

// Threads of a block that share a row of `in_row` vectors, each with up to `vectors`: all of them,
// or fewer if that leaves fewer idle at the row's end and there are rows for the others.
int threads_in_row(const GpuFacts& facts, std::int64_t in_row, int threads, std::int64_t vectors) {
  constexpr std::int64_t kLeastThreads = 8;  // 128 bytes
  const auto covered = [&](std::int64_t count) {
    const std::int64_t tile = count * std::clamp<std::int64_t>(ceil_div(in_row, count), 1, vectors);
    return tile * ceil_div(in_row, tile);
  };
  std::int64_t chosen = std::min<std::int64_t>(threads, power_above(in_row));
  const int row_axis = facts.row_axis_beside(facts.space.axes.end_id() - 1);
  const std::int64_t rows = row_axis < 0 ? 1 : facts.size(row_axis);
  for (std::int64_t count = chosen / 2; count >= kLeastThreads; count /= 2)
    if (threads / count <= rows && 16 * covered(count) < 15 * covered(chosen)) chosen = count;
  return static_cast<int>(chosen);
}

// `vectors`: per thread, row and tensor. `rows_each`: rows per thread.
Tiling pointwise_tiling(const GpuFacts& facts, int threads, std::int64_t vectors, int rows_each) {
  Tiling tiling;
  Mapping& mapping = tiling.mapping;
  mapping.threads = threads;
  mapping.threads_per_row = threads;
  if (facts.space.axes.empty()) {
    mapping.threads = mapping.threads_per_row = kWarpThreads;
    return tiling;
  }
  tiling.col_axis = facts.space.axes.end_id() - 1;
  if (const int across = facts.crossing(tiling.col_axis); across >= 0)
    return best_transposing(facts, tiling.col_axis, across);
  const Vectors cut = facts.vectors_along(tiling.col_axis);
  mapping.vector = cut.width;
  tiling.aligned_to = cut.aligned_to;
  const std::int64_t columns = cut_columns(tiling, facts.size(tiling.col_axis));
  const std::int64_t in_row = ceil_div(columns, mapping.vector);
  mapping.threads_per_row = threads_in_row(facts, in_row, threads, vectors);
  vectors = std::clamp<std::int64_t>(ceil_div(in_row, mapping.threads_per_row), 1, vectors);
  tiling.tile_cols = mapping.threads_per_row * mapping.vector * vectors;
  const int rows = threads / mapping.threads_per_row * rows_each;
  tiling.row_axis = rows > 1 ? facts.row_axis_beside(tiling.col_axis) : -1;
  if (tiling.row_axis >= 0)
    tiling.tile_rows = rows;
  else if (rows > 1)
    mapping.threads = std::max(kWarpThreads, mapping.threads_per_row);
  return tiling;
}

}  // namespace

// One vector per tensor if there are few blocks, otherwise two. If rows share an operand: few
// blocks get more threads, and two rows per thread unless elements have 16 bits; with many blocks
// of 16-bit elements, which cost instructions to unpack, each thread reuses the operand for several
// rows. Rows that are cut at different columns have different vectors of it.
Tiling best_pointwise_tiling(const GpuFacts& facts) {
  const Tiling tiling = pointwise_tiling(facts, kPointwiseThreads, 1, 1);
  if (tiling.col_axis < 0 || facts.crossing(tiling.col_axis) >= 0) return tiling;
  const std::int64_t blocks = facts.elements() / (tiling.tile_cols * tiling.tile_rows);
  const int row_axis = facts.row_axis_beside(tiling.col_axis);
  const bool shares =
      row_axis >= 0 && tiling.aligned_to < 0 && facts.has_shared_operand(tiling.col_axis, row_axis);
  if (blocks < 32L * facts.machine.multiprocessors)
    return shares ? pointwise_tiling(facts, 2 * kPointwiseThreads, 1, facts.is_narrow() ? 1 : 2)
                  : tiling;
  if (shares && facts.is_narrow())
    return pointwise_tiling(facts, kPointwiseThreads, 1, kSharedRows);
  const bool is_short = facts.size(tiling.col_axis) <= tiling.tile_cols;
  return is_short ? pointwise_tiling(facts, kPointwiseThreads, 1, 2)
                  : pointwise_tiling(facts, kPointwiseThreads, 2, 1);
}

std::vector<Config> gpu_pointwise_configs(const GpuFacts& facts) {
  const Tiling best = best_pointwise_tiling(facts);
  std::vector<Config> configs{PointwiseConfig{best}};
  const int col_axis = best.col_axis;
  if (const int across = col_axis < 0 ? -1 : facts.crossing(col_axis); across >= 0) {
    for (std::int64_t rows : {16, 32, 64, 128, 256})
      for (std::int64_t cols : {16, 32, 64, 128, 256})
        for (int each : {4, 8, 16})
          if (rows * cols <= 4096 && rows * cols / each >= 64)
            configs.push_back(
                PointwiseConfig{transposing_tiling(facts, col_axis, across, rows, cols, each)});
    return configs;
  }
  for (int threads : {128, 256, 512})
    for (std::int64_t vectors : {1, 2, 4})
      for (int rows_each : {1, 2, 4, 8})
        if (vectors * rows_each <= 8)
          configs.push_back(PointwiseConfig{pointwise_tiling(facts, threads, vectors, rows_each)});
  return configs;
}

}  // namespace sinter
