// A thread loads 16-byte vectors of contiguous data, and enough of them to hide latency.
#include "src/lower/gpu_pointwise_configs.h"

#include <algorithm>

#include "src/base/rounding.h"
#include "src/lower/gpu_transposing_tiles.h"
#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

using tile::kWarpThreads;
using tile::Mapping;

constexpr int kSharedRows = 4;  // rows per thread, to reuse a shared operand
constexpr int kPointwiseThreads = 128;
constexpr std::int64_t kTransposeTile = 64;
constexpr std::int64_t kSmallTransposeTile = 32;

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
  if (facts.crossing(tiling.col_axis) >= 0) return tiling;  // see transposing_tiling()
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

// What the rules ask. `usual`: one vector per thread and tensor.
struct PointwiseFacts {
  explicit PointwiseFacts(const GpuFacts& f)
      : facts(f),
        usual(pointwise_tiling(f, kPointwiseThreads, 1, 1)),
        across(usual.col_axis < 0 ? -1 : f.crossing(usual.col_axis)),
        is_narrow(f.is_narrow(usual.col_axis)) {
    if (usual.col_axis < 0 || across >= 0) return;
    const int row_axis = f.row_axis_beside(usual.col_axis);
    // Rows that are cut at different columns have different vectors of a shared operand.
    shares =
        row_axis >= 0 && usual.aligned_to < 0 && f.has_shared_operand(usual.col_axis, row_axis);
    has_few_blocks =
        f.elements() / (usual.tile_cols * usual.tile_rows) < 32L * f.machine.multiprocessors;
    is_short = f.size(usual.col_axis) <= usual.tile_cols;
  }

  bool is_transposing() const { return across >= 0; }
  // For 16-bit elements the limit is half as many tiles, because their lines become short.
  bool has_few_tiles() const {
    return facts.elements() / (kTransposeTile * kTransposeTile) <
           (is_narrow ? 2 : 4) * facts.machine.multiprocessors;
  }
  bool has_large_strides() const {
    const LargeStrides large = large_strides(facts, usual.col_axis, across);
    return large.transposed && large.others;
  }
  bool has_rows_of_two_tiles() const {
    const Vectors cut = facts.vectors_along(usual.col_axis);
    const std::int64_t columns = facts.size(usual.col_axis) + cut.width - 1;
    return cut.aligned_to >= 0 && columns > kTransposeTile && columns <= 2 * kTransposeTile;
  }
  bool has_few_uneven_rows() const {
    return facts.vectors_along(usual.col_axis).aligned_to >= 0 &&
           facts.size(across) <= 4 * kTransposeTile;
  }
  std::optional<Tiling> dense() const { return dense_transposing_tiling(facts); }
  Tiling transposing(std::int64_t rows, std::int64_t cols, int each) const {
    return transposing_tiling(facts, usual.col_axis, across, rows, cols, each);
  }
  Tiling tiling(int threads, std::int64_t vectors, int rows_each) const {
    return pointwise_tiling(facts, threads, vectors, rows_each);
  }

  const GpuFacts& facts;
  const Tiling usual;
  const int across;  // the axis along which a transposed operand is contiguous; -1: there is none
  const bool is_narrow;
  bool shares = false;  // rows share an operand
  bool has_few_blocks = false;
  bool is_short = false;  // one vector for each of a block's threads covers a row
};

using Facts = PointwiseFacts;
constexpr Rule<Facts, Tiling> kTileRules[] = {
    {"a single element", [](const Facts& f) { return f.usual.col_axis < 0; },
     [](const Facts& f) { return f.usual; }, "there is nothing to choose"},
    {"transposed, short rows that begin anywhere",
     [](const Facts& f) { return f.dense().has_value(); },
     [](const Facts& f) { return *f.dense(); },
     "lanes that read single elements of a column touched a line each; the others' rows are one "
     "run"},
    {"transposed, few tiles",
     [](const Facts& f) { return f.is_transposing() && f.has_few_tiles(); },
     [](const Facts& f) { return f.transposing(kSmallTransposeTile, kSmallTransposeTile, 8); },
     "f32 sums with transposed operands, 2 million elements: 13.3 to 13.0 us on an H200"},
    {"transposed 32-bit elements, all strides large",
     [](const Facts& f) { return f.is_transposing() && f.has_large_strides() && !f.is_narrow; },
     [](const Facts& f) { return f.transposing(kTransposeTile, kTransposeTile / 2, 16); },
     "sum with transposed operands, 32768x65536: 8.58 to 8.04 ms on an H200; more blocks hide more "
     "latency"},
    {"transposed 32-bit elements, few rows that begin anywhere",
     [](const Facts& f) { return f.is_transposing() && f.has_few_uneven_rows() && !f.is_narrow; },
     [](const Facts& f) {
       const bool one_tile = f.facts.size(f.across) <= kTransposeTile;
       return f.transposing((one_tile ? 1 : 2) * kTransposeTile, kTransposeTile / 2, 16);
     },
     "f32 sums with transposed operands on an H200: 200x48622 51.9 to 49.2 us, 46x129125 31.1 to "
     "29.7"},
    {"transposed, rows of one to two tiles that begin anywhere",
     [](const Facts& f) { return f.is_transposing() && f.has_rows_of_two_tiles(); },
     [](const Facts& f) { return f.transposing(kTransposeTile / 2, 2 * kTransposeTile, 16); },
     "f16 sum with transposed operands, 329985x113: 147 to 111 us on an H200; no line is shared by "
     "blocks"},
    {"other transposed operands", [](const Facts& f) { return f.is_transposing(); },
     [](const Facts& f) { return f.transposing(kTransposeTile, kTransposeTile, 16); },
     "sweeps on an H200: all loads before the first wait, whole lines on both sides"},
    {"few blocks of 16-bit elements, rows share an operand",
     [](const Facts& f) { return f.has_few_blocks && f.shares && f.is_narrow; },
     [](const Facts& f) { return f.tiling(2 * kPointwiseThreads, 1, 1); },
     "sweeps of small tensors on an H200"},
    {"few blocks, rows share an operand",
     [](const Facts& f) { return f.has_few_blocks && f.shares; },
     [](const Facts& f) { return f.tiling(2 * kPointwiseThreads, 1, 2); },
     "sweeps of small tensors on an H200"},
    {"few blocks", [](const Facts& f) { return f.has_few_blocks; },
     [](const Facts& f) { return f.usual; },
     "sweeps of small tensors on an H200: blocks for all multiprocessors first"},
    {"many blocks of 16-bit elements, rows share an operand",
     [](const Facts& f) { return f.shares && f.is_narrow; },
     [](const Facts& f) { return f.tiling(kPointwiseThreads, 1, kSharedRows); },
     "unpacking the shared operand costs instructions, so several rows reuse it"},
    {"many blocks, short rows", [](const Facts& f) { return f.is_short; },
     [](const Facts& f) { return f.tiling(kPointwiseThreads, 1, 2); },
     "judgement: two vectors per thread, from two rows"},
    {"other elements", [](const Facts&) { return true; },
     [](const Facts& f) { return f.tiling(kPointwiseThreads, 2, 1); },
     "two loads in flight per thread and tensor hide more latency"},
};
constexpr char kTilePart[] = "tile";

}  // namespace

Offer best_pointwise_offer(const GpuFacts& facts) {
  const PointwiseFacts pointwise(facts);
  const auto& rule = first_rule(kTileRules, pointwise);
  return {{PointwiseConfig{rule.choose(pointwise)}}, "", {text_of(kTilePart, rule)}};
}

void list_pointwise_rules(std::vector<RuleText>& texts) {
  list_rules(kTilePart, kTileRules, texts);
}

Offer gpu_pointwise_offer(const GpuFacts& facts) {
  Offer offer = best_pointwise_offer(facts);
  std::vector<Config>& configs = offer.configs;
  const Tiling best = tiling_of(configs[0]);
  const int col_axis = best.col_axis;
  if (const int across = col_axis < 0 ? -1 : facts.crossing(col_axis); across >= 0) {
    for (std::int64_t rows : {16, 32, 64, 128, 256})
      for (std::int64_t cols : {16, 32, 64, 128, 256})
        for (int each : {4, 8, 16})
          if (rows * cols <= 4096 && rows * cols / each >= 64)
            configs.push_back(
                PointwiseConfig{transposing_tiling(facts, col_axis, across, rows, cols, each)});
    return offer;
  }
  for (int threads : {128, 256, 512})
    for (std::int64_t vectors : {1, 2, 4})
      for (int rows_each : {1, 2, 4, 8})
        if (vectors * rows_each <= 8)
          configs.push_back(PointwiseConfig{pointwise_tiling(facts, threads, vectors, rows_each)});
  return offer;
}

}  // namespace sinter
