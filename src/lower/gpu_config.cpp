// A thread takes 16 bytes at a time of what is contiguous, and enough of them that loads are under
// way while others wait. Rows stay in registers: of a few lanes, a warp, a block or a cluster.
#include "src/lower/gpu_config.h"

#include <algorithm>
#include <bit>

#include "src/base/check.h"
#include "src/base/rounding.h"

namespace sinter {
namespace {

using tile::Mapping;

constexpr int kPackBytes = 16;
constexpr int kWidestVector = 8;
constexpr int kRowElements = 64;  // that a thread holds of all the tiles of a row program
constexpr int kMostHeld = 96;     // with what all rows share
constexpr int kLongRow = 8192;    // elements
constexpr int kLongRowThreads = 256;
constexpr int kSharedRows = 4;  // that a thread takes to use a shared operand again
constexpr int kPointwiseThreads = 256;
constexpr int kMostThreads = 1024;
constexpr std::int64_t kTransposeTile = 64;
constexpr std::int64_t kSmallTransposeTile = 32;
constexpr std::int64_t kChunkVectors = 4;
constexpr std::int64_t kOnlineElements = 16;  // that a thread takes at once: it holds three of each

std::int64_t power_above(std::int64_t size) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1))));
}

// What the choice depends on.
struct Facts {
  Facts(const IterationSpace& s, const Machine& m) : space(s), machine(m) {}

  std::int64_t size(int axis) const { return space.axes[static_cast<std::size_t>(axis)].size; }
  static std::int64_t stride(const Access& access, int axis) {
    return access.strides[static_cast<std::size_t>(axis)];
  }
  static bool is_memory(const Access& access) { return access.element_bytes > 0; }

  // Elements that a thread takes at once along an axis: 16 bytes of the smallest type, as far as
  // every access begins at a multiple of that.
  int vector_along(int axis) const {
    int smallest = kPackBytes;
    for (const Access& access : space.accesses)
      if (is_memory(access) && stride(access, axis) == 1)
        smallest = std::min(smallest, access.element_bytes);
    int vector = std::min(kWidestVector, kPackBytes / smallest);
    for (const Access& access : space.accesses)
      while (is_memory(access) && stride(access, axis) == 1 && !is_even(access, axis, vector))
        vector /= 2;
    return vector;
  }
  bool is_even(const Access& access, int axis, int vector) const {
    if (access.offset % vector != 0) return false;
    for (std::size_t other = 0; other < access.strides.size(); ++other)
      if (static_cast<int>(other) != axis && access.strides[other] % vector != 0) return false;
    return true;
  }

  // Tensors that are read element by element, not shared by rows.
  bool is_full_read(const Access& access) const {
    if (access.write || access.level != Level::full || !is_memory(access)) return false;
    for (std::size_t axis = 0; axis < space.axes.size(); ++axis)
      if (space.axes[axis].size > 1 && access.strides[axis] == 0) return false;
    return true;
  }
  int full_reads() const {
    return static_cast<int>(
        std::count_if(space.accesses.begin(), space.accesses.end(),
                      [&](const Access& access) { return is_full_read(access); }));
  }

  // A kept axis along which some full access is contiguous while it jumps along `col_axis`; -1.
  int crossing(int col_axis) const {
    for (const Access& access : space.accesses) {
      const std::int64_t along = stride(access, col_axis);
      if (!is_memory(access) || access.write || access.level == Level::row || along == 0 ||
          along == 1)
        continue;
      for (int axis : space.kept_axes())
        if (axis != col_axis && stride(access, axis) == 1 && size(axis) >= 8) return axis;
    }
    return -1;
  }
  // Not those that are the same all along `inner`: they are few elements.
  int contiguous_accesses(int axis, int inner) const {
    return static_cast<int>(
        std::count_if(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
          return access.level == Level::full && is_memory(access) && stride(access, axis) == 1 &&
                 stride(access, inner) != 0;
        }));
  }
  int largest(const std::vector<int>& axes) const {
    return *std::max_element(axes.begin(), axes.end(),
                             [&](int a, int b) { return size(a) < size(b); });
  }
  std::int64_t elements() const {
    std::int64_t count = 1;
    for (const SpaceAxis& axis : space.axes) count *= axis.size;
    return count;
  }
  std::int64_t kept_elements() const {
    std::int64_t count = 1;
    for (int axis : space.kept_axes()) count *= size(axis);
    return count;
  }

  const IterationSpace& space;
  const Machine& machine;
};

// The kept axis that tiles of several rows take them from: next to the columns, unless it is short.
int row_axis_beside(const Facts& facts, int col_axis) {
  constexpr std::int64_t kShort = 16;
  std::vector<int> kept = facts.space.kept_axes();
  std::erase(kept, col_axis);
  if (kept.empty()) return -1;
  return facts.size(kept.back()) >= kShort ? kept.back() : facts.largest(kept);
}

// --- pointwise
// ------------------------------------------------------------------------------------

// Tiles of `rows` by `cols`, a thread taking `each` elements of it.
Config transposing_config(const Facts& facts, int col_axis, int row_axis, std::int64_t rows,
                          std::int64_t cols, int each) {
  Config config;
  config.col_axis = col_axis;
  config.row_axis = row_axis;
  config.rows_first = true;
  config.tile_cols = std::min(cols, power_above(facts.size(col_axis)));
  config.tile_rows = std::min(rows, power_above(facts.size(row_axis)));
  Mapping& mapping = config.mapping;
  mapping.vector = facts.vector_along(col_axis);
  while (config.tile_cols % mapping.vector != 0) mapping.vector /= 2;
  mapping.threads_per_row = static_cast<int>(config.tile_cols / mapping.vector);
  mapping.threads = static_cast<int>(
      std::clamp<std::int64_t>(config.tile_cols * config.tile_rows / each,
                               std::max(32, mapping.threads_per_row), kMostThreads));
  return config;
}

// Small tiles where large ones would leave multiprocessors idle.
Config default_transposing(const Facts& facts, int col_axis, int row_axis) {
  const bool many =
      facts.elements() >= kTransposeTile * kTransposeTile * 2 * facts.machine.multiprocessors;
  const std::int64_t tile = many ? kTransposeTile : kSmallTransposeTile;
  return transposing_config(facts, col_axis, row_axis, tile, tile, 8);
}

// Whether some operand is the same for all rows.
bool has_shared_operand(const Facts& facts, int col_axis, int row_axis) {
  return std::any_of(facts.space.accesses.begin(), facts.space.accesses.end(),
                     [&](const Access& access) {
                       return Facts::is_memory(access) && Facts::stride(access, col_axis) != 0 &&
                              Facts::stride(access, row_axis) == 0;
                     });
}

// `vectors`: that a thread takes of each tensor.
Config pointwise_config(const Facts& facts, int threads, std::int64_t vectors, int rows_each) {
  Config config;
  Mapping& mapping = config.mapping;
  mapping.threads = threads;
  mapping.threads_per_row = threads;
  if (facts.space.axes.empty()) {
    mapping.threads = mapping.threads_per_row = 32;
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
  config.row_axis = rows > 1 ? row_axis_beside(facts, config.col_axis) : -1;
  if (config.row_axis >= 0)
    config.tile_rows = rows;
  else if (rows > 1)
    mapping.threads = std::max(32, mapping.threads_per_row);
  return config;
}

// One vector of each tensor; of several rows where that uses a shared operand again and there are
// blocks enough.
Config default_pointwise(const Facts& facts) {
  const Config config = pointwise_config(facts, kPointwiseThreads, 1, 1);
  const int row_axis = config.col_axis < 0 ? -1 : row_axis_beside(facts, config.col_axis);
  if (row_axis < 0 || config.rows_first || !has_shared_operand(facts, config.col_axis, row_axis))
    return config;
  const std::int64_t tile = config.tile_cols * config.tile_rows * kSharedRows;
  const bool many = facts.elements() >= tile * 4 * facts.machine.multiprocessors;
  return many ? pointwise_config(facts, kPointwiseThreads, 1, kSharedRows) : config;
}

// --- rows
// -----------------------------------------------------------------------------------------

// A row on `group` threads of each of `cluster` blocks; blocks of at least `threads`.
Config row_config(const Facts& facts, int col_axis, int group, int cluster, int threads) {
  Config config;
  config.form = Form::row;
  config.col_axis = col_axis;
  Mapping& mapping = config.mapping;
  mapping.vector = facts.vector_along(col_axis);
  mapping.cluster = cluster;
  mapping.threads_per_row = group;
  const std::int64_t step = std::int64_t{group} * mapping.vector * cluster;
  config.tile_cols = step * ceil_div(facts.size(col_axis), step);
  int rows = std::max(1, threads / group);
  config.row_axis = rows > 1 ? row_axis_beside(facts, col_axis) : -1;
  if (config.row_axis < 0) rows = 1;
  config.tile_rows = rows;
  mapping.threads = std::max(32, group * rows);
  if (mapping.threads / group > rows)
    config.tile_rows = config.row_axis < 0 ? 1 : mapping.threads / group;
  return config;
}

// Elements that a thread holds, of all tiles that live at once.
std::int64_t held(const Facts& facts, const Config& config) {
  const Mapping& mapping = config.mapping;
  int registers = 1;  // for an element
  for (const Access& access : facts.space.accesses)
    if (access.level == Level::full) registers = std::max(registers, access.element_bytes / 4);
  return config.tile_cols / (std::int64_t{mapping.threads_per_row} * mapping.cluster) * registers *
         std::max(1, facts.full_reads());
}

bool fits_registers(const Facts& facts, const Config& config) {
  return held(facts, config) <= (config.mapping.threads > 512 ? kRowElements / 2 : kRowElements);
}

// Of what all rows share too, as if it were loaded with the rest.
std::int64_t held_with_shared(const Facts& facts, const Config& config) {
  const auto all = std::count_if(
      facts.space.accesses.begin(), facts.space.accesses.end(), [&](const Access& access) {
        return !access.write && access.level == Level::full && Facts::is_memory(access) &&
               Facts::stride(access, config.col_axis) != 0;
      });
  return held(facts, config) / std::max(1, facts.full_reads()) * std::max<std::int64_t>(1, all);
}

// Loads everything at the start if there is room for it, and keeps the compiler from spending more
// registers: blocks beside each other hide more of the waiting.
void share_registers(const Facts& facts, Config& config) {
  constexpr int kOther = 48;  // that a thread needs besides what it holds
  const std::int64_t all = held_with_shared(facts, config);
  const std::int64_t room =
      facts.machine.registers_per_multiprocessor / config.mapping.threads - kOther;
  config.mapping.late_loads = all > std::min<std::int64_t>(kMostHeld, room);
  const std::int64_t each = (config.mapping.late_loads ? held(facts, config) : all) + kOther;
  config.mapping.blocks_at_once = static_cast<int>(std::clamp<std::int64_t>(
      facts.machine.registers_per_multiprocessor / (config.mapping.threads * each), 1,
      facts.machine.threads_per_multiprocessor / config.mapping.threads));
}

bool is_packed(const Access& access, const Config& config) {
  return Facts::stride(access, config.col_axis) == 1 &&
         config.mapping.vector * access.element_bytes >= kPackBytes;
}

// Bytes of shared memory that a block's loads of one program take; 0: they cannot be fetched there,
// as that takes whole packs.
std::int64_t fetch_bytes(const Facts& facts, const Config& config) {
  const Mapping& mapping = config.mapping;
  if (facts.size(config.col_axis) % mapping.vector != 0) return 0;
  const std::int64_t each = config.tile_cols / (mapping.threads_per_row * mapping.cluster) *
                            ceil_div(config.tile_rows * mapping.threads_per_row, mapping.threads);
  std::int64_t bytes = 0;
  for (const Access& access : facts.space.accesses) {
    if (!facts.is_full_read(access)) continue;
    if (!is_packed(access, config)) return 0;
    bytes += each * access.element_bytes * mapping.threads;
  }
  return bytes;
}

// Of what all programs share and registers have no room for.
std::int64_t shared_fetch_bytes(const Facts& facts, const Config& config) {
  std::int64_t bytes = 0;
  if (config.mapping.late_loads)
    for (const Access& access : facts.space.accesses)
      if (!access.write && access.level == Level::full && Facts::is_memory(access) &&
          !facts.is_full_read(access) && is_packed(access, config))
        bytes += config.tile_cols / config.mapping.cluster * access.element_bytes;
  return bytes;
}

// Fetches that many programs ahead; false: there is no room, or no block has several programs.
bool fetch_ahead(const Facts& facts, Config& config, int programs) {
  constexpr std::int64_t kOther = 2048;  // bytes that a block needs besides
  const std::int64_t bytes = fetch_bytes(facts, config);
  const std::int64_t room = facts.machine.shared_bytes_per_multiprocessor /
                            (programs * bytes + shared_fetch_bytes(facts, config) + kOther);
  if (bytes == 0 || room == 0) return false;
  config.mapping.ahead = programs;
  config.mapping.blocks_at_once =
      static_cast<int>(std::min<std::int64_t>(config.mapping.blocks_at_once, room));
  const std::int64_t at_once =
      std::int64_t{facts.machine.multiprocessors} * config.mapping.blocks_at_once;
  return facts.kept_elements() / config.tile_rows * config.mapping.cluster > at_once;
}

struct RowChoice {
  int group;
  int cluster;
  int threads;
};

// Few threads with many elements each: blocks are small, so that some load while others wait for
// each other. Where rows are few, more threads share one. Clusters only where a block does not hold
// the row.
RowChoice default_row(const Facts& facts, int col_axis) {
  const std::int64_t length = facts.size(col_axis);
  const std::int64_t vector = facts.vector_along(col_axis);
  const std::int64_t reads = std::max(1, facts.full_reads());
  const auto threads_for = [&](std::int64_t elements) {
    return static_cast<int>(power_above(ceil_div(length, std::max(elements, vector))));
  };
  const bool many = facts.kept_elements() >= 8L * std::max(1, facts.machine.multiprocessors);
  if (length <= 512) return {std::min(32, threads_for(16)), 1, 128};
  if (length <= kLongRow) return {std::max(32, threads_for(many ? 32 / reads : 16)), 1, 128};
  const std::int64_t threads =
      power_above(ceil_div(length, std::max<std::int64_t>(1, kRowElements / reads)));
  const std::int64_t in_block = threads > kLongRowThreads ? 2 * kLongRowThreads : kLongRowThreads;
  const std::int64_t cluster =
      std::min<std::int64_t>(facts.machine.largest_cluster, ceil_div(threads, in_block));
  const auto group =
      static_cast<int>(std::clamp<std::int64_t>(threads / cluster, in_block, kMostThreads));
  return {group, static_cast<int>(cluster), group};
}

// `online`: reads a softmax's rows once less, for as many exponentials and a tile more to hold.
Config chunked_config(const Facts& facts, int col_axis, bool online) {
  Config config;
  config.form = Form::chunked;
  config.col_axis = col_axis;
  config.online = online;
  Mapping& mapping = config.mapping;
  mapping.vector = facts.vector_along(col_axis);
  const std::int64_t vectors = ceil_div(facts.size(col_axis), mapping.vector);
  mapping.threads = static_cast<int>(std::clamp<std::int64_t>(power_above(vectors), 32, 512));
  mapping.threads_per_row = mapping.threads;
  const std::int64_t most =
      std::min(kChunkVectors, online ? kOnlineElements / mapping.vector : kChunkVectors);
  const std::int64_t steps = std::clamp<std::int64_t>(ceil_div(vectors, mapping.threads), 1, most);
  config.tile_cols = mapping.threads * mapping.vector * steps;
  return config;
}

Config column_config(const Facts& facts, int col_axis, bool online) {
  Config config;
  config.form = Form::column;
  config.col_axis = col_axis;
  config.online = online;
  Mapping& mapping = config.mapping;
  mapping.vector = facts.vector_along(col_axis);
  const std::int64_t vectors = ceil_div(facts.size(col_axis), mapping.vector);
  mapping.threads = static_cast<int>(std::clamp<std::int64_t>(power_above(vectors), 32, 128));
  mapping.threads_per_row = mapping.threads;
  config.tile_cols = mapping.threads * mapping.vector;
  return config;
}

// The kept axis that a reduction takes along the columns, as it is contiguous and the reduced ones
// are not; -1.
int kept_column(const Facts& facts) {
  const int inner = facts.space.reduced_axes().back();
  int across = -1;
  for (int axis : facts.space.kept_axes())
    if (facts.contiguous_accesses(axis, inner) > facts.contiguous_accesses(inner, inner))
      across = axis;
  return across;
}

std::vector<Config> row_configs(const Facts& facts, int col_axis) {
  std::vector<Config> configs;
  const auto add = [&](int group, int cluster, int threads) {
    Config config = row_config(facts, col_axis, group, cluster, threads);
    if (!fits_registers(facts, config)) return;
    share_registers(facts, config);
    configs.push_back(config);
    for (int ahead : {1, 2}) {
      Config fetching = config;
      if (fetch_ahead(facts, fetching, ahead)) configs.push_back(fetching);
    }
  };
  const RowChoice chosen = default_row(facts, col_axis);
  add(chosen.group, chosen.cluster, chosen.threads);
  const std::int64_t vectors = ceil_div(facts.size(col_axis), facts.vector_along(col_axis));
  for (int cluster = 1; cluster <= facts.machine.largest_cluster; cluster *= 2)
    for (int group = cluster > 1 ? 128 : 1; group <= kMostThreads; group *= 2) {
      const std::int64_t each = ceil_div(vectors, std::int64_t{group} * cluster);
      if (each > 16 || (std::int64_t{group} * cluster > 2 * vectors)) continue;
      for (int threads : {64, 128, 256}) {
        if (threads < group && threads != 256) continue;
        add(group, cluster, threads);
      }
    }
  return configs;
}

std::vector<Config> reduction_configs(const Facts& facts) {
  const std::vector<int> reduced = facts.space.reduced_axes();
  const int inner = reduced.back();
  const int across = kept_column(facts);
  std::vector<Config> configs;
  if (across < 0 && reduced.size() == 1) configs = row_configs(facts, inner);
  if (!configs.empty()) return configs;
  for (bool online : {true, false})
    if (!online || facts.space.has_online_sums)
      configs.push_back(across >= 0 ? column_config(facts, across, online)
                                    : chunked_config(facts, inner, online));
  return configs;
}

std::vector<Config> pointwise_configs(const Facts& facts) {
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

// Much that is read and little that is written: it should not push out what others have in the
// cache. With results of the same size, or far more than the cache holds, it makes no difference or
// costs a little (measured on an H200).
bool streams(const IterationSpace& space, std::int64_t bytes, const Machine& machine) {
  const bool writes =
      std::any_of(space.accesses.begin(), space.accesses.end(),
                  [](const Access& access) { return access.write && access.level == Level::full; });
  return !writes && bytes > machine.cache_bytes / 4 && bytes < 6 * machine.cache_bytes;
}

bool adds_in_same_order(const Config& a, const Config& b) {
  return a.form == b.form && a.tile_cols == b.tile_cols && a.online == b.online &&
         a.mapping.threads_per_row == b.mapping.threads_per_row &&
         a.mapping.vector == b.mapping.vector && a.mapping.cluster == b.mapping.cluster;
}

}  // namespace

std::vector<Config> gpu_configs(const IterationSpace& space, std::int64_t bytes,
                                const Machine& machine, bool same_bits) {
  const Facts facts(space, machine);
  const bool reduces = !space.reduced_axes().empty();
  std::vector<Config> candidates = reduces ? reduction_configs(facts) : pointwise_configs(facts);
  std::vector<Config> configs;
  for (const Config& candidate : candidates)
    for (bool stream : {streams(space, bytes, machine), !streams(space, bytes, machine)}) {
      if (candidate.mapping.ahead > 0 && stream != streams(space, bytes, machine)) continue;
      Config config = candidate;
      config.stream_loads = stream;
      const bool known = std::any_of(configs.begin(), configs.end(),
                                     [&](const Config& other) { return other == config; });
      if (known || (same_bits && reduces && !adds_in_same_order(candidates.front(), config)))
        continue;
      configs.push_back(config);
    }
  return configs;
}

Config choose_gpu_config(const IterationSpace& space, std::int64_t bytes, const Machine& machine) {
  const Facts facts(space, machine);
  Config config =
      space.reduced_axes().empty() ? default_pointwise(facts) : reduction_configs(facts).front();
  config.stream_loads = streams(space, bytes, machine);
  return config;
}

}  // namespace sinter
