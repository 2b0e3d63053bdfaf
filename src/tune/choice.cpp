// Rows are kept on chip whole, so the vectors per thread, and with them the blocks per
// multiprocessor, follow from the row length. Exact matches are preferred, near ones accepted.
#include "src/tune/choice.h"

#include <algorithm>
#include <bit>

#include "src/base/check.h"

namespace sinter {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kWidestVector = 8;
constexpr int kLargestCluster = 8;
constexpr std::int64_t kMostRows = 1024;
constexpr std::int64_t kMostVectors = 64;
constexpr int kMostBlocks = 64;
constexpr int kMostAhead = 8;

bool is_power_up_to(std::int64_t value, std::int64_t most) {
  return value >= 1 && value <= most && std::has_single_bit(static_cast<std::uint64_t>(value));
}

}  // namespace

TunedChoice choice_of(const Config& config) {
  const tile::Mapping& mapping = config.mapping;
  TunedChoice choice;
  choice.form = config.form;
  choice.threads = mapping.threads;
  choice.threads_per_row = mapping.threads_per_row;
  choice.vector = mapping.vector;
  choice.cluster = mapping.cluster;
  choice.tile_rows = config.tile_rows;
  const std::int64_t at_once =
      std::int64_t{mapping.threads_per_row} * mapping.vector * mapping.cluster;
  choice.vectors = std::max<std::int64_t>(1, config.tile_cols / std::max<std::int64_t>(1, at_once));
  choice.blocks_at_once = mapping.blocks_at_once;
  choice.ahead = mapping.ahead;
  choice.caching = config.caching;
  choice.online = config.online;
  return choice;
}

std::string refusal_of(const TunedChoice& choice) {
  struct Power {
    const char* name;
    std::int64_t value;
    std::int64_t most;
  };
  const Power powers[] = {{"threads", choice.threads, kMostThreads},
                          {"threads_per_row", choice.threads_per_row, choice.threads},
                          {"vector", choice.vector, kWidestVector},
                          {"cluster", choice.cluster, kLargestCluster},
                          {"tile_rows", choice.tile_rows, kMostRows}};
  for (const Power& power : powers)
    if (!is_power_up_to(power.value, power.most))
      return fmt::format("{} is {}, not a power of two up to {}", power.name, power.value,
                         power.most);
  if (choice.vectors < 1 || choice.vectors > kMostVectors)
    return fmt::format("vectors is {}, not from 1 to {}", choice.vectors, kMostVectors);
  if (choice.blocks_at_once < 0 || choice.blocks_at_once > kMostBlocks)
    return fmt::format("blocks_at_once is {}, not from 0 to {}", choice.blocks_at_once,
                       kMostBlocks);
  if (choice.ahead < 0 || choice.ahead > kMostAhead)
    return fmt::format("ahead is {}, not from 0 to {}", choice.ahead, kMostAhead);
  return "";
}

std::optional<Config> matching(const TunedChoice& choice, std::span<const Config> candidates) {
  std::optional<Config> other_length;
  for (const Config& candidate : candidates) {
    TunedChoice each = choice_of(candidate);
    if (each == choice) return candidate;
    if (choice.form != Form::row || other_length) continue;
    each.vectors = choice.vectors;
    each.blocks_at_once = choice.blocks_at_once;
    if (each == choice) other_length = candidate;
  }
  return other_length;
}

}  // namespace sinter
