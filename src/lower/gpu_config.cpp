// A thread takes 16 bytes at a time of what is contiguous, and enough of them that loads are under
// way while others wait. gpu_row_configs.cpp has the rows that stay in registers.
#include "src/lower/gpu_config.h"

#include <algorithm>

#include "src/base/rounding.h"
#include "src/lower/gpu_facts.h"
#include "src/lower/gpu_row_configs.h"
#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

using tile::Caching;
using tile::kMostThreads;
using tile::kWarpThreads;
using tile::Mapping;

constexpr int kSharedRows = 4;  // that a thread takes to use a shared operand again
constexpr int kPointwiseThreads = 128;
constexpr std::int64_t kTransposeTile = 64;
constexpr std::int64_t kSmallTransposeTile = 32;
constexpr std::int64_t kFar = 128 << 10;  // bytes between lines, from where on their order counts
constexpr std::int64_t kChunkVectors = 4;
constexpr std::int64_t kOnlineElements = 16;  // that a thread takes at once: it holds three of each

// Of the cache: results that it holds, and what is only reduced that pushes much out of it, or so
// much that this no longer counts.
constexpr double kResultsFit = 0.7;
constexpr double kReducedIsMuch = 0.5;
constexpr double kReducedIsTooMuch = 6;

// --- pointwise ---

// Whether lines of what is transposed, and of the other tensors, are far apart.
struct FarLines {
  bool transposed;
  bool others;
};
FarLines far_lines(const GpuFacts& facts, int col_axis, int row_axis) {
  return {facts.widest_step(col_axis, row_axis) >= kFar,
          facts.widest_step(row_axis, col_axis) >= kFar};
}

// Tiles of `rows` by `cols`, a thread taking `each` elements of it. Neighbours lie along the
// columns, unless only lines of what is transposed are far apart (measured on an H200).
Config transposing_config(const GpuFacts& facts, int col_axis, int row_axis, std::int64_t rows,
                          std::int64_t cols, int each) {
  Config config;
  config.col_axis = col_axis;
  config.row_axis = row_axis;
  const FarLines far = far_lines(facts, col_axis, row_axis);
  config.rows_first = far.transposed && !far.others;
  config.tile_cols = std::min(cols, power_above(facts.size(col_axis)));
  config.tile_rows = std::min(rows, power_above(facts.size(row_axis)));
  Mapping& mapping = config.mapping;
  mapping.vector = facts.vector_along(col_axis);
  while (config.tile_cols % mapping.vector != 0) mapping.vector /= 2;
  mapping.threads_per_row = static_cast<int>(config.tile_cols / mapping.vector);
  mapping.threads = static_cast<int>(
      std::clamp<std::int64_t>(config.tile_cols * config.tile_rows / each,
                               std::max(kWarpThreads, mapping.threads_per_row), kMostThreads));
  return config;
}

// Small tiles where large ones would leave multiprocessors idle; of narrow elements, whose lines
// would be short, only where there are half as many. Half as wide ones where lines of both kinds
// are far apart: blocks of fewer threads take turns at more of them (7% faster on an H200).
Config default_transposing(const GpuFacts& facts, int col_axis, int row_axis) {
  const bool is_narrow = facts.is_narrow();
  const std::int64_t tiles = facts.elements() / (kTransposeTile * kTransposeTile);
  if (tiles < (is_narrow ? 2 : 4) * facts.machine.multiprocessors)
    return transposing_config(facts, col_axis, row_axis, kSmallTransposeTile, kSmallTransposeTile,
                              8);
  const FarLines far = far_lines(facts, col_axis, row_axis);
  const bool is_half = far.transposed && far.others && !is_narrow;
  return transposing_config(facts, col_axis, row_axis, kTransposeTile,
                            is_half ? kTransposeTile / 2 : kTransposeTile, 16);
}

// `vectors`: that a thread takes of each tensor.
Config pointwise_config(const GpuFacts& facts, int threads, std::int64_t vectors, int rows_each) {
  Config config;
  Mapping& mapping = config.mapping;
  mapping.threads = threads;
  mapping.threads_per_row = threads;
  if (facts.space.axes.empty()) {
    mapping.threads = mapping.threads_per_row = kWarpThreads;
    return config;
  }
  config.col_axis = static_cast<int>(facts.space.axes.size()) - 1;
  if (const int across = facts.crossing(config.col_axis); across >= 0)
    return default_transposing(facts, config.col_axis, across);
  mapping.vector = facts.vector_along(config.col_axis);
  const std::int64_t in_row = ceil_div(facts.size(config.col_axis), mapping.vector);
  mapping.threads_per_row = static_cast<int>(std::min<std::int64_t>(threads, power_above(in_row)));
  vectors = std::clamp<std::int64_t>(ceil_div(in_row, mapping.threads_per_row), 1, vectors);
  config.tile_cols = mapping.threads_per_row * mapping.vector * vectors;
  const int rows = threads / mapping.threads_per_row * rows_each;
  config.row_axis = rows > 1 ? facts.row_axis_beside(config.col_axis) : -1;
  if (config.row_axis >= 0)
    config.tile_rows = rows;
  else if (rows > 1)
    mapping.threads = std::max(kWarpThreads, mapping.threads_per_row);
  return config;
}

// One vector of each tensor where blocks are few, else two; where rows share an operand and blocks
// are few, larger blocks, and two rows a thread unless elements are narrow. Where blocks are many,
// a shared operand of 16-bit elements, which take instructions to unpack, is used for several rows.
Config default_pointwise(const GpuFacts& facts) {
  const Config config = pointwise_config(facts, kPointwiseThreads, 1, 1);
  if (config.col_axis < 0 || facts.crossing(config.col_axis) >= 0) return config;
  const std::int64_t blocks = facts.elements() / (config.tile_cols * config.tile_rows);
  const int row_axis = facts.row_axis_beside(config.col_axis);
  const bool shares = row_axis >= 0 && facts.has_shared_operand(config.col_axis, row_axis);
  if (blocks < 32L * facts.machine.multiprocessors)
    return shares ? pointwise_config(facts, 2 * kPointwiseThreads, 1, facts.is_narrow() ? 1 : 2)
                  : config;
  if (shares && facts.is_narrow())
    return pointwise_config(facts, kPointwiseThreads, 1, kSharedRows);
  const bool is_short = facts.size(config.col_axis) <= config.tile_cols;
  return is_short ? pointwise_config(facts, kPointwiseThreads, 1, 2)
                  : pointwise_config(facts, kPointwiseThreads, 2, 1);
}

// --- reductions that nobody holds ---

// `online`: reads a softmax's rows once less, for as many exponentials and a tile more to hold.
Config chunked_config(const GpuFacts& facts, int col_axis, bool online) {
  Config config;
  config.form = Form::chunked;
  config.col_axis = col_axis;
  config.online = online;
  Mapping& mapping = config.mapping;
  mapping.vector = facts.vector_along(col_axis);
  const std::int64_t vectors = ceil_div(facts.size(col_axis), mapping.vector);
  mapping.threads =
      static_cast<int>(std::clamp<std::int64_t>(power_above(vectors), kWarpThreads, 512));
  mapping.threads_per_row = mapping.threads;
  const std::int64_t most =
      std::min(kChunkVectors, online ? kOnlineElements / mapping.vector : kChunkVectors);
  const std::int64_t steps = std::clamp<std::int64_t>(ceil_div(vectors, mapping.threads), 1, most);
  config.tile_cols = mapping.threads * mapping.vector * steps;
  return config;
}

Config column_config(const GpuFacts& facts, int col_axis, bool online) {
  Config config;
  config.form = Form::column;
  config.col_axis = col_axis;
  config.online = online;
  Mapping& mapping = config.mapping;
  mapping.vector = facts.vector_along(col_axis);
  const std::int64_t vectors = ceil_div(facts.size(col_axis), mapping.vector);
  mapping.threads =
      static_cast<int>(std::clamp<std::int64_t>(power_above(vectors), kWarpThreads, 128));
  mapping.threads_per_row = mapping.threads;
  config.tile_cols = mapping.threads * mapping.vector;
  return config;
}

// The kept axis that a reduction takes along the columns, as it is contiguous and the reduced ones
// are not; -1.
int kept_column(const GpuFacts& facts) {
  const int inner = facts.space.reduced_axes().back();
  int across = -1;
  for (int axis : facts.space.kept_axes())
    if (facts.contiguous_accesses(axis, inner) > facts.contiguous_accesses(inner, inner))
      across = axis;
  return across;
}

std::vector<Config> reduction_configs(const GpuFacts& facts) {
  const std::vector<int> reduced = facts.space.reduced_axes();
  const int inner = reduced.back();
  const int across = kept_column(facts);
  std::vector<Config> configs;
  if (across < 0 && reduced.size() == 1) configs = gpu_row_configs(facts, inner);
  if (!configs.empty()) return configs;
  for (bool online : {true, false})
    if (!online || facts.space.has_online_sums)
      configs.push_back(across >= 0 ? column_config(facts, across, online)
                                    : chunked_config(facts, inner, online));
  return configs;
}

std::vector<Config> pointwise_configs(const GpuFacts& facts) {
  std::vector<Config> configs{default_pointwise(facts)};
  const int col_axis = configs[0].col_axis;
  if (const int across = col_axis < 0 ? -1 : facts.crossing(col_axis); across >= 0) {
    for (std::int64_t rows : {16, 32, 64, 128, 256})
      for (std::int64_t cols : {16, 32, 64, 128, 256})
        for (int each : {4, 8, 16})
          if (rows * cols <= 4096 && rows * cols / each >= 64)
            configs.push_back(transposing_config(facts, col_axis, across, rows, cols, each));
    return configs;
  }
  for (int threads : {128, 256, 512})
    for (std::int64_t vectors : {1, 2, 4})
      for (int rows_each : {1, 2, 4, 8})
        if (vectors * rows_each <= 8)
          configs.push_back(pointwise_config(facts, threads, vectors, rows_each));
  return configs;
}

// What to keep in the cache. The results where it holds them, but not all that is read for them:
// whoever reads them next finds them. Else the operands: what fits stays for whoever reads it
// again, and reading is faster where nothing fits, too. What is only reduced leaves first, so that
// it does not push out what others wrote, unless it is so much that this no longer counts. Measured
// on an H200 (60 MB of L2) with rows and tiles of 1 MB to 4 GB, in a cold cache, in chains of
// kernels, and between kernels of others.
Caching chosen_caching(const GpuFacts& facts, const Config& config, std::int64_t bytes) {
  const bool reads_again = (config.form == Form::chunked || config.form == Form::column) &&
                           (facts.space.needs_rows_again || facts.space.reductions > 1);
  if (reads_again) return Caching::operands;
  const auto cache = static_cast<double>(facts.machine.cache_bytes);
  const double all = static_cast<double>(bytes) / cache;
  if (!facts.writes_elements())
    return all > kReducedIsMuch && all < kReducedIsTooMuch ? Caching::results : Caching::operands;
  const double results = static_cast<double>(facts.written_bytes()) / cache;
  return all > 1 && results < kResultsFit ? Caching::results : Caching::operands;
}

bool adds_in_same_order(const Config& a, const Config& b) {
  return a.form == b.form && a.tile_cols == b.tile_cols && a.online == b.online &&
         a.mapping.threads_per_row == b.mapping.threads_per_row &&
         a.mapping.vector == b.mapping.vector && a.mapping.cluster == b.mapping.cluster;
}

}  // namespace

// Not with other cachings than the heuristic's and none: samples that begin with a cold cache and
// end before what was written leaves it would praise those that keep results.
std::vector<Config> gpu_configs(const IterationSpace& space, std::int64_t bytes,
                                const Machine& machine, bool same_bits) {
  const GpuFacts facts(space, machine);
  const bool reduces = !space.reduced_axes().empty();
  const std::vector<Config> mappings =
      reduces ? reduction_configs(facts) : pointwise_configs(facts);
  std::vector<Config> configs;
  for (const bool keeps : {true, false})
    for (Config config : mappings) {
      config.caching = keeps ? chosen_caching(facts, config, bytes) : Caching::any;
      const bool known = std::any_of(configs.begin(), configs.end(),
                                     [&](const Config& other) { return other == config; });
      if (known || (same_bits && reduces && !adds_in_same_order(mappings.front(), config)))
        continue;
      configs.push_back(config);
    }
  return configs;
}

Config choose_gpu_config(const IterationSpace& space, std::int64_t bytes, const Machine& machine) {
  const GpuFacts facts(space, machine);
  Config config =
      space.reduced_axes().empty() ? default_pointwise(facts) : reduction_configs(facts).front();
  config.caching = chosen_caching(facts, config, bytes);
  return config;
}

}  // namespace sinter
