// Tiles of row chunks or of adjacent columns, with and without online sums.
#include "src/lower/gpu_loop_configs.h"

#include <algorithm>

#include "src/base/rounding.h"
#include "src/lower/gpu_transposed_rows.h"
#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

using tile::kWarpThreads;
using tile::Mapping;

constexpr std::int64_t kChunkVectors = 4;     // per thread
constexpr std::int64_t kOnlineElements = 16;  // per thread, with three live values each

// `online` saves one pass over a softmax's rows, with as many exponentials and one more live tile.
ChunkedConfig chunked_config(const GpuFacts& facts, int col_axis, bool online) {
  ChunkedConfig config{.tiling = {}, .online = online};
  Tiling& tiling = config.tiling;
  tiling.col_axis = col_axis;
  Mapping& mapping = tiling.mapping;
  const Vectors cut = facts.row_vectors_along(col_axis);
  mapping.vector = cut.width;
  tiling.aligned_to = cut.aligned_to;
  const std::int64_t vectors = ceil_div(facts.size(col_axis), mapping.vector);
  mapping.threads =
      static_cast<int>(std::clamp<std::int64_t>(power_above(vectors), kWarpThreads, 512));
  mapping.threads_per_row = mapping.threads;
  const std::int64_t most =
      std::min(kChunkVectors, online ? kOnlineElements / mapping.vector : kChunkVectors);
  const std::int64_t steps = std::clamp<std::int64_t>(ceil_div(vectors, mapping.threads), 1, most);
  tiling.tile_cols = mapping.threads * mapping.vector * steps;
  return config;
}

ColumnConfig column_config(const GpuFacts& facts, int col_axis, bool online) {
  ColumnConfig config{.tiling = {}, .online = online};
  Tiling& tiling = config.tiling;
  tiling.col_axis = col_axis;
  Mapping& mapping = tiling.mapping;
  if (col_axis < 0) {
    mapping.threads = mapping.threads_per_row = kWarpThreads;
    return config;
  }
  mapping.vector = facts.vector_along(col_axis);
  const std::int64_t vectors = ceil_div(facts.size(col_axis), mapping.vector);
  mapping.threads =
      static_cast<int>(std::clamp<std::int64_t>(power_above(vectors), kWarpThreads, 128));
  mapping.threads_per_row = mapping.threads;
  tiling.tile_cols = mapping.threads * mapping.vector;
  return config;
}

// The rules choose whether sums are online.
constexpr Rule<GpuFacts, bool> kPassRules[] = {
    {"sums below a maximum", [](const GpuFacts& facts) { return facts.space.has_online_sums; },
     [](const GpuFacts&) { return true; },
     "one pass over the rows fewer, at one exponential per element"},
    {"other reductions", [](const GpuFacts&) { return true; },
     [](const GpuFacts&) { return false; }, "reductions that do not need each other share a pass"},
};
constexpr char kPassPart[] = "passes";

// The chosen config first; the one without online sums is always among them.
template <typename MakeConfig>
Offer online_and_not(const GpuFacts& facts, const MakeConfig& make_config) {
  const auto& rule = first_rule(kPassRules, facts);
  Offer offer{{}, "", {text_of(kPassPart, rule)}};
  if (rule.choose(facts)) offer.configs.push_back(make_config(true));
  offer.configs.push_back(make_config(false));
  return offer;
}

}  // namespace

Offer gpu_chunked_offer(const GpuFacts& facts, int col_axis) {
  return online_and_not(facts,
                        [&](bool online) { return chunked_config(facts, col_axis, online); });
}

Offer gpu_column_offer(const GpuFacts& facts, int col_axis) {
  return online_and_not(facts, [&](bool online) { return column_config(facts, col_axis, online); });
}

void list_loop_rules(std::vector<RuleText>& texts) { list_rules(kPassPart, kPassRules, texts); }

int contiguous_kept_axis(const GpuFacts& facts) {
  const int inner = facts.space.reduced_axes().back();
  int column = -1;
  for (int axis : facts.space.kept_axes())
    if (facts.contiguous_accesses(axis, inner) > facts.contiguous_accesses(inner, inner))
      column = axis;
  return column;
}

int gpu_kept_column(const GpuFacts& facts) {
  return transposed_row_tiling(facts) ? -1 : contiguous_kept_axis(facts);
}

}  // namespace sinter
