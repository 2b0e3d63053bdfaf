// A thread that walks a column waits for one element after another; if there are few columns, there
// are too few such threads to hide that.
#include "src/lower/gpu_transposed_rows.h"

#include <algorithm>

#include "src/lower/gpu_loop_configs.h"
#include "src/lower/gpu_row_rules.h"
#include "src/tile/access.h"
#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

constexpr std::int64_t kMostElements = 8192;  // of a tile: 32 KiB of f32
constexpr std::int64_t kMostRows = 32;
constexpr std::int64_t kElementsEach = 32;    // per thread
constexpr std::int64_t kNarrow = 64;          // columns: few lanes of a warp read a row of them
constexpr std::int64_t kColumnThreads = 256;  // per multiprocessor: too few to hide latency

// Whether the only elements read are those of one tensor that is contiguous along the column.
bool reads_one_tensor_of_columns(const GpuFacts& facts, int column) {
  int reads = 0;
  for (const Access& access : facts.space.accesses) {
    if (access.split || !access.windows.empty()) return false;
    if (access.write || access.per_row || !GpuFacts::is_memory(access)) continue;
    if (access.stride(column) != 1) return false;
    ++reads;
  }
  return reads == 1;
}

}  // namespace

std::optional<Tiling> transposed_row_tiling(const GpuFacts& facts) {
  const AxisList reduced = facts.space.reduced_axes();
  if (reduced.size() != 1 || facts.writes_elements() || facts.space.batch_invariant)
    return std::nullopt;
  const int column = contiguous_kept_axis(facts);
  if (column < 0 || !reads_one_tensor_of_columns(facts, column)) return std::nullopt;
  const bool is_narrow = facts.size(column) <= kNarrow;
  if (!is_narrow && facts.kept_elements() > kColumnThreads * facts.machine.multiprocessors)
    return std::nullopt;
  Tiling tiling;
  tiling.col_axis = reduced[0];
  tiling.row_axis = column;
  tiling.tile_cols =
      std::max<std::int64_t>(power_above(facts.size(reduced[0])), tile::kWarpThreads);
  tiling.tile_rows =
      std::min({kMostRows, kMostElements / tiling.tile_cols,
                std::max(power_above(facts.size(column)), tile::kLeastTransposedRows)});
  if (tiling.tile_rows < tile::kLeastTransposedRows) return std::nullopt;
  tile::Mapping& mapping = tiling.mapping;
  mapping.threads = static_cast<int>(std::max<std::int64_t>(
      tiling.tile_rows * tiling.tile_cols / kElementsEach, tile::kWarpThreads));
  mapping.threads_per_row = static_cast<int>(
      std::min<std::int64_t>(mapping.threads / tiling.tile_rows, tile::kWarpThreads));
  return tiling;
}

RuleText transposed_row_rule() {
  return {kThreadsPart, "short columns, few or narrow",
          "judgement: a thread that walks a column has too few loads in flight"};
}

}  // namespace sinter
