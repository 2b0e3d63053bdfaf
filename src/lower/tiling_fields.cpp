// The row family keeps whole rows on chip, so the vectors per thread, and with them the blocks per
// multiprocessor, are determined by the row length.
#include "src/lower/tiling_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

using tile::kLargestCluster;
using tile::kMostBlocksAtOnce;
using tile::kMostPrefetch;
using tile::kMostThreads;
using tile::kWidestVector;

constexpr int kMostRows = 1024;
constexpr int kMostVectors = 64;

// Names of the tile::Caching values that GPUs support.
constexpr std::array<const char*, 3> kCachings = {"any", "results", "operands"};

// Vectors per thread in each row of the tile.
std::int64_t vectors_of(const Config& config) {
  const Tiling& tiling = tiling_of(config);
  const tile::Mapping& mapping = tiling.mapping;
  const std::int64_t at_once =
      std::int64_t{mapping.threads_per_row} * mapping.vector * mapping.cluster;
  return std::max<std::int64_t>(1, tiling.tile_cols / std::max<std::int64_t>(1, at_once));
}

std::array<ConfigField, 10> make_fields(bool is_row) {
  return {{
      {.name = "threads",
       .get = [](const Config& c) -> std::int64_t { return tiling_of(c).mapping.threads; },
       .least = 1,
       .most = kMostThreads,
       .is_power = true},
      {.name = "threads_per_row",
       .get = [](const Config& c) -> std::int64_t { return tiling_of(c).mapping.threads_per_row; },
       .least = 1,
       .most = kMostThreads,
       .is_power = true},
      {.name = "vector",
       .get = [](const Config& c) -> std::int64_t { return tiling_of(c).mapping.vector; },
       .least = 1,
       .most = kWidestVector,
       .is_power = true},
      {.name = "cluster",
       .get = [](const Config& c) -> std::int64_t { return tiling_of(c).mapping.cluster; },
       .least = 1,
       .most = kLargestCluster,
       .is_power = true},
      {.name = "tile_rows",
       .get = [](const Config& c) -> std::int64_t { return tiling_of(c).tile_rows; },
       .least = 1,
       .most = kMostRows,
       .is_power = true},
      {.name = "vectors",
       .get = vectors_of,
       .least = 1,
       .most = kMostVectors,
       .follows_size = is_row},
      {.name = "blocks_at_once",
       .get = [](const Config& c) -> std::int64_t { return tiling_of(c).mapping.blocks_at_once; },
       .most = kMostBlocksAtOnce,
       .follows_size = is_row},
      {.name = "prefetch",
       .get = [](const Config& c) -> std::int64_t { return tiling_of(c).mapping.prefetch; },
       .most = kMostPrefetch},
      {.name = "caching",
       .get = [](const Config& c) { return static_cast<std::int64_t>(tiling_of(c).caching); },
       .most = kCachings.size() - 1,
       .words = kCachings},
      {.name = "online",
       .get = [](const Config& c) -> std::int64_t { return is_online(c); },
       .is_optional = true,
       .is_flag = true},
  }};
}

std::string mapping_text(const tile::Mapping& mapping) {
  std::string text;
  if (mapping.threads > 0)
    text +=
        fmt::format(", {} threads, {} a row, vectors of {}{}", mapping.threads,
                    mapping.threads_per_row, mapping.vector,
                    mapping.cluster > 1 ? fmt::format(", clusters of {}", mapping.cluster) : "");
  if (mapping.prefetch > 0) text += fmt::format(", {} prefetched", mapping.prefetch);
  return text;
}

}  // namespace

std::string describe_tiling(const Config& config) {
  const Tiling& tiling = tiling_of(config);
  std::string text =
      fmt::format("{} ({}, {})", family_of(config).name, tiling.tile_rows, tiling.tile_cols);
  if (tiling.caching != tile::Caching::any)
    text += fmt::format(" keeps {}", name_of(tiling.caching));
  if (is_online(config)) text += " online";
  text += mapping_text(tiling.mapping);
  if (tiling.aligned_to >= 0) text += ", rows cut at multiples of the vector";
  if (tiling.dense_rows) text += ", moved as one run";
  return text;
}

std::span<const ConfigField> tiling_fields() {
  static const auto fields = make_fields(false);
  return std::span(fields).first(9);
}

std::span<const ConfigField> row_tiling_fields() {
  static const auto fields = make_fields(true);
  return std::span(fields).first(9);
}

std::span<const ConfigField> looping_tiling_fields() {
  static const auto fields = make_fields(false);
  return fields;
}

bool adds_in_same_order(const Config& a, const Config& b) {
  const Tiling& left = tiling_of(a);
  const Tiling& right = tiling_of(b);
  return a.index() == b.index() && is_online(a) == is_online(b) &&
         left.tile_cols == right.tile_cols &&
         left.mapping.threads_per_row == right.mapping.threads_per_row &&
         left.mapping.vector == right.mapping.vector &&
         left.mapping.cluster == right.mapping.cluster;
}

}  // namespace sinter
