// The heuristic was measured on an H200. It prefers few threads with many elements each, so that
// blocks are small and some load while others wait at barriers; and clusters of small blocks if one
// block cannot hold the row.
#include "src/lower/gpu_row_configs.h"

#include <algorithm>
#include <optional>

#include "src/base/rounding.h"
#include "src/lower/row_alignment.h"
#include "src/tile/access.h"
#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

using tile::kMostThreads;
using tile::kWarpThreads;
using tile::Mapping;

constexpr std::int64_t kRowElements = 64;  // per thread, over all live tiles of a row
constexpr std::int64_t kMostHeld = 64;     // registers, including operands shared by all rows
constexpr std::int64_t kMostHeldPrefetching = 96;
constexpr std::int64_t kOtherRegisters = 48;  // per thread, besides held tiles
constexpr std::int64_t kShortRow = 512;       // elements
constexpr std::int64_t kMiddleRow = 4096;
constexpr std::int64_t kLongRow = 8192;
constexpr std::int64_t kLongest = 65536;  // longest row that a cluster of small blocks holds
constexpr int kBlockThreads = 128;

// A row is held by `group` threads in each of `cluster` blocks of at least `threads` threads.
struct RowChoice {
  int group;
  int cluster;
  int threads;
  bool is_dense = false;  // see Tiling::dense_rows
};

class RowConfigs {
 public:
  RowConfigs(const GpuFacts& facts, int col_axis)
      : facts_(facts),
        machine_(facts.machine),
        col_axis_(col_axis),
        length_(facts.size(col_axis)),
        rows_(facts.kept_elements()),
        cut_(facts.vectors_along(col_axis)),
        vector_(cut_.width),
        tiles_(std::max({1, facts.full_reads(), facts.space.kept_computed})),
        is_narrow_(facts.is_narrow()),
        can_pack_(facts.is_16_bit() && vector_ > 1),
        is_packed_(can_pack_ && facts.space.kept_computed == 0),
        has_shared_(shared_reads() > 0),
        stores_at_once_(!facts.space.needs_rows_again && facts.writes_elements()),
        stores_no_elements_(!facts.writes_elements()) {}

  std::vector<Config> configs(Wanted wanted) const {
    std::vector<Config> configs;
    add(chosen(), true, configs);
    const std::int64_t vectors = ceil_div(length_, vector_) + (cut_.aligned_to < 0 ? 0 : 1);
    for (int cluster = 1; cluster <= machine_.largest_cluster; cluster *= 2)
      for (int group = cluster > 1 ? kBlockThreads : 1; group <= kMostThreads; group *= 2) {
        const std::int64_t each = ceil_div(vectors, std::int64_t{group} * cluster);
        if (each > 16 || (std::int64_t{group} * cluster > 2 * vectors)) continue;
        for (int threads : {64, 128, 256})
          if (threads >= group || threads == 256) {
            if (wanted == Wanted::best && !configs.empty()) return configs;
            add({group, cluster, threads}, false, configs);
          }
      }
    return configs;
  }

 private:
  // --- register and shared memory use of a config ---

  // A per-element operand that all rows share, such as weights.
  bool is_shared_read(const Access& access) const {
    return !access.write && !access.per_row && GpuFacts::is_memory(access) &&
           access.stride(col_axis_) != 0 && !facts_.is_full_read(access);
  }
  std::int64_t shared_reads() const {
    return std::count_if(facts_.space.accesses.begin(), facts_.space.accesses.end(),
                         [&](const Access& access) { return is_shared_read(access); });
  }

  static std::int64_t elements(const Tiling& tiling) {  // per thread and row
    return tile::ThreadLayout(tiling.mapping).elements({1, tiling.tile_cols});
  }

  // Registers for a thread's elements of one tile. 16-bit floats stay packed (half2) until they are
  // used.
  std::int64_t registers(const Tiling& tiling) const {
    if (is_packed_) return elements(tiling) / 2;
    int each = 1;
    for (const Access& access : facts_.space.accesses)
      if (!access.per_row) each = std::max(each, access.element_bytes / 4);
    return elements(tiling) * each;
  }
  std::int64_t held(const Tiling& tiling) const { return registers(tiling) * tiles_; }

  bool fits_block(const Tiling& tiling) const {
    const int threads = tiling.mapping.threads;
    return threads <= kMostThreads &&
           held(tiling) <= (threads > 512 ? kRowElements / 2 : kRowElements);
  }

  // Registers a thread needs besides the tiles it holds. Within a warp there is no barrier, so the
  // compiler unpacks elements for the next stage while it waits for the last one.
  std::int64_t other_registers(const Tiling& tiling, bool late_loads) const {
    const bool in_warp = tiling.mapping.threads_per_row <= kWarpThreads;
    if (is_packed_) return (in_warp ? 64 : 32) + (late_loads ? 0 : 8 * shared_reads());
    if (in_warp || !gains_from_room(tiling)) return kOtherRegisters;
    return facts_.needs_wide_offsets() ? 24 : 16;
  }

  // Whether higher occupancy is worth some spills. Results that replace the packed halves they come
  // from need few other registers; and if blocks are queued, one more resident block hides more
  // latency than the spills cost.
  bool gains_from_room(const Tiling& tiling) const {
    const std::int64_t usual = machine_.registers_per_multiprocessor /
                               (tiling.mapping.threads * (held(tiling) + kOtherRegisters));
    return can_pack_ && !has_shared_ &&
           blocks(tiling) > static_cast<double>(machine_.multiprocessors * usual);
  }

  // Loads everything at the start if the registers suffice, and limits the compiler's register use
  // to the planned occupancy: more resident blocks hide more latency. With prefetch the limit is
  // higher, because shared operands stay in registers from program to program.
  void share_registers(Tiling& tiling) const {
    Mapping& mapping = tiling.mapping;
    const std::int64_t all = registers(tiling) * (tiles_ + shared_reads());
    const std::int64_t room =
        machine_.registers_per_multiprocessor / mapping.threads - other_registers(tiling, false);
    if (mapping.prefetch > 0)
      mapping.late_loads = all > std::min(is_packed_ ? kMostHeld : kMostHeldPrefetching, room);
    else
      mapping.late_loads = (is_packed_ ? 2 : 1) * all > std::min(kMostHeld, room);
    const std::int64_t each =
        (mapping.late_loads ? held(tiling) : all) + other_registers(tiling, mapping.late_loads);
    const std::int64_t by_registers =
        machine_.registers_per_multiprocessor / (mapping.threads * each);
    const int most = std::min(machine_.threads_per_multiprocessor / mapping.threads,
                              machine_.blocks_per_multiprocessor);
    mapping.blocks_at_once = static_cast<int>(std::clamp<std::int64_t>(by_registers, 1, most));
  }

  // --- prefetch ---

  // Prefetch copies whole 16-byte packs, without a look at the window of a padded view.
  bool has_whole_packs(const Access& access) const {
    return access.windows.empty() && !access.split && access.stride(col_axis_) == 1 &&
           cut_.aligned_to < 0 && has_even_rows(access, col_axis_, vector_) &&
           tile::fill_packs(vector_, access.element_bytes) && length_ % vector_ == 0;
  }

  // Size of a block's prefetch buffer in bytes: the loads of `programs` programs, plus shared
  // operands that do not fit in registers. 0: the loads cannot be prefetched.
  std::int64_t fetch_bytes(const Tiling& tiling, int programs) const {
    const tile::ThreadLayout layout(tiling.mapping);
    std::int64_t bytes = 0;
    for (const Access& access : facts_.space.accesses) {
      if (facts_.is_full_read(access)) {
        if (!has_whole_packs(access)) return 0;
        bytes += programs *
                 layout.block_bytes({tiling.tile_rows, tiling.tile_cols}, access.element_bytes);
      } else if (tiling.mapping.late_loads && is_shared_read(access) && has_whole_packs(access)) {
        bytes += layout.block_bytes({1, tiling.tile_cols}, access.element_bytes);
      }
    }
    return bytes;
  }

  // Shared memory for the partial results that warps and blocks exchange, assuming four reductions.
  std::int64_t slot_bytes(const Tiling& tiling) const {
    constexpr std::int64_t kReductions = 4;
    std::int64_t each = 4;
    for (const Access& access : facts_.space.accesses)
      each = std::max<std::int64_t>(each, access.element_bytes);
    const tile::ThreadLayout layout(tiling.mapping);
    return kReductions * layout.slot_turns() * each *
           layout.slots({tiling.tile_rows, tiling.tile_cols});
  }

  // The tiling with that prefetch depth. Nothing if shared memory does not suffice, or if blocks
  // would run only one program each.
  std::optional<Tiling> fetching(Tiling tiling, int programs) const {
    constexpr std::int64_t kOther = 2048;  // other shared memory of a block, in bytes
    Mapping& mapping = tiling.mapping;
    mapping.prefetch = programs;
    share_registers(tiling);
    const std::int64_t bytes = fetch_bytes(tiling, programs);
    const std::int64_t room = machine_.shared_bytes_per_multiprocessor / (bytes + kOther);
    if (bytes == 0 || room == 0) return std::nullopt;
    if (bytes + slot_bytes(tiling) > machine_.shared_bytes_per_multiprocessor - kOther)
      return std::nullopt;
    mapping.blocks_at_once = static_cast<int>(std::min<std::int64_t>(mapping.blocks_at_once, room));
    if (waves(tiling) <= 1) return std::nullopt;
    return tiling;
  }

  double blocks(const Tiling& tiling) const {
    return static_cast<double>(rows_) / static_cast<double>(tiling.tile_rows) *
           tiling.mapping.cluster;
  }
  // Number of waves: blocks divided by the blocks resident at once.
  double waves(const Tiling& tiling) const {
    return blocks(tiling) / (machine_.multiprocessors * tiling.mapping.blocks_at_once);
  }

  // Prefetch depth in programs. Worth it for long rows with shared operands, which are then loaded
  // once per block, or if few waves would leave gaps between them. Other packed rows use the room
  // for more resident blocks.
  int chosen_prefetch(const Tiling& tiling) const {
    if (is_packed_) {
      const bool is_long = length_ > kLongRow && length_ <= 2 * kLongRow;
      return has_few_large_rows() || (has_shared_ && is_long && is_few(8)) ? 1 : 0;
    }
    if (has_much_to_do()) return 0;
    if (!has_shared_ || is_narrow_)
      return is_narrow_ && length_ > 2 * kLongRow && waves(tiling) <= 4 ? 1 : 0;
    if (length_ >= kLongest) return is_few(2) ? 1 : 2;
    return length_ > kLongRow && is_few(8) ? 1 : 0;
  }

  // Long packed rows spread over a full cluster, so that each block runs several rows and loads the
  // shared operands once. (For the longest rows, there must be twice as many of them.)
  bool has_few_large_rows() const {
    const bool can_fetch = std::all_of(
        facts_.space.accesses.begin(), facts_.space.accesses.end(), [&](const Access& access) {
          return !facts_.is_full_read(access) || has_whole_packs(access);
        });
    const int clusters = machine_.largest_cluster;
    const bool has_too_few = length_ >= kLongest ? is_few(1) : 2 * rows_ < machine_.multiprocessors;
    return has_shared_ && !stores_at_once_ && can_fetch && clusters > 1 && length_ > 2 * kLongRow &&
           pads_little(kBlockThreads * clusters) && is_few(8) && !has_too_few;
  }

  // Compute-bound rows: little is read for the work done, so more threads share a row.
  bool has_much_to_do() const {
    return facts_.space.kept_computed > 0 && facts_.space.reductions > 2;
  }

  // --- candidates ---

  // Whether there are fewer than `each` rows per multiprocessor.
  bool is_few(std::int64_t each) const { return rows_ < each * machine_.multiprocessors; }

  RowChoice chosen() const {
    if (facts_.has_short_uneven_rows(col_axis_) &&
        facts_.has_dense_rows(col_axis_, facts_.row_axis_beside(col_axis_)))
      return chosen_dense();
    if (length_ <= kShortRow) return chosen_short();
    if (length_ <= kLongRow) return chosen_middle();
    return chosen_long();
  }

  // A thread holds a row, or a few share it. Smaller blocks if these would be few, or would need
  // more shared memory than several blocks can have.
  RowChoice chosen_dense() const {
    constexpr std::int64_t kMostElements = 32;
    constexpr std::int64_t kMostBytes = 32 << 10;
    int group = 1;
    while (ceil_div(length_, group) * tiles_ > kMostElements && group < kWarpThreads) group *= 2;
    const std::int64_t moved = facts_.full_reads() + (facts_.writes_elements() ? 1 : 0);
    const auto row_bytes = std::max<std::int64_t>(1, moved) * (length_ + 1) * 4;
    int threads = kBlockThreads;
    while (threads > kWarpThreads &&
           (threads / group * row_bytes > kMostBytes ||
            rows_ * group < std::int64_t{4} * threads * machine_.multiprocessors))
      threads /= 2;
    return {group, 1, threads, true};
  }

  int threads_for(std::int64_t each) const {
    return static_cast<int>(power_above(ceil_div(length_, std::max<std::int64_t>(each, vector_))));
  }

  // Whether that many threads pad a row by at most a quarter of its length.
  bool pads_little(std::int64_t threads) const {
    const std::int64_t step = threads * vector_;
    return 4 * step * ceil_div(length_, step) <= 5 * length_;
  }

  // Several rows per warp. With little work overall, each thread gets one vector. When elements are
  // narrow and nothing is written back, pack more rows into each block.
  RowChoice chosen_short() const {
    const std::int64_t little = 8L * kBlockThreads * machine_.multiprocessors;
    const std::int64_t elements = rows_ * length_;
    if (stores_at_once_ && elements < 4 * little) {
      const int threads = std::min(kBlockThreads, threads_for(vector_));
      return {threads, 1, std::max(kBlockThreads, 2 * threads)};
    }
    const bool is_little = elements < little;
    const std::int64_t each = is_little                        ? vector_
                              : stores_at_once_ && !is_narrow_ ? 8
                                                               : 16 / tiles_;
    const int block = is_little                           ? kBlockThreads / 2
                      : stores_no_elements_ && is_narrow_ ? 2 * kBlockThreads
                                                          : kBlockThreads;
    return {std::min(kWarpThreads, threads_for(each)), 1, block};
  }

  RowChoice chosen_middle() const {
    if (stores_no_elements_ && !is_few(8))
      return {std::min(threads_for(2 * vector_), kMostThreads), 1, 2 * kBlockThreads};
    const int threads =
        std::clamp(threads_for(middle_elements() / tiles_), kWarpThreads, kMostThreads);
    const bool is_light = has_shared_ && is_narrow_ && length_ < kMiddleRow;
    const int block = is_light ? kBlockThreads / 2 : kBlockThreads;
    return {threads, 1, is_few(4) ? threads : block};
  }

  // Elements per thread of a middle row. If there are few rows, more threads share one.
  std::int64_t middle_elements() const {
    if (stores_at_once_) return is_few(4) && length_ <= 1024 ? vector_ : 2 * vector_;
    const bool are_few = is_few(is_narrow_ ? 4 : 8);
    if (has_shared_) {
      if (!is_narrow_ || is_few(2)) return 16;
      if (!are_few) return length_ < kMiddleRow ? 32 : 64;
      return length_ == kLongRow ? 32 : 16;
    }
    if (are_few) return length_ < kMiddleRow ? 16 : 32;
    return is_narrow_ ? 64 : 32;
  }

  RowChoice chosen_long() const {
    const int clusters = machine_.largest_cluster;
    const std::int64_t least = threads_for(kRowElements / tiles_);
    if (clusters == 1) {
      const auto group = static_cast<int>(std::clamp<std::int64_t>(least, 256, kMostThreads));
      return {group, 1, group};
    }
    if (is_packed_ && !stores_at_once_) return chosen_packed();
    const std::int64_t widest = 2 * kBlockThreads * clusters;
    std::int64_t threads = least;
    std::int64_t block = kBlockThreads;
    if (has_shared_ && !is_narrow_) {
      if (length_ >= kLongest || is_few(8))
        threads = std::max(least, std::min<std::int64_t>(threads_for(32), widest));
      else
        block = 2 * kBlockThreads;
    } else if (stores_at_once_ || (has_much_to_do() && !is_narrow_ && is_few(4))) {
      threads = std::max(least, std::min<std::int64_t>(2 * least, widest));
    } else if (is_few(has_much_to_do() ? 4 : 8) || has_shared_) {
      threads = std::max(least, std::min<std::int64_t>(2 * least, kBlockThreads * clusters));
    }
    const std::int64_t cluster = std::clamp<std::int64_t>(threads / block, 1, clusters);
    const auto group = static_cast<int>(std::min<std::int64_t>(threads / cluster, kMostThreads));
    return {group, static_cast<int>(cluster), group};
  }

  // Packed halves leave registers for other resident blocks, even beside a large one.
  RowChoice chosen_packed() const {
    std::int64_t threads = threads_for(kRowElements / tiles_);
    std::int64_t most = 512;
    if (has_few_large_rows()) {
      most = kBlockThreads;
      threads = std::max<std::int64_t>(threads, most * machine_.largest_cluster);
    } else if (!has_shared_) {
      most = is_few(4) ? kBlockThreads : is_few(16) ? 2 * kBlockThreads : most;
    } else if (is_few(2)) {
      std::int64_t more = is_few(1) ? 2 * most : most;
      while (more > threads && !pads_little(more)) more /= 2;
      threads = std::max(threads, more);
    } else if (is_few(4)) {
      most = 2 * kBlockThreads;
    }
    const auto group = static_cast<int>(
        std::clamp<std::int64_t>(most, threads / machine_.largest_cluster, threads));
    return {group, static_cast<int>(threads / group), group};  // may exceed a block's limit
  }

  Tiling tiling_of_choice(const RowChoice& choice) const {
    Tiling tiling;
    tiling.col_axis = col_axis_;
    tiling.aligned_to = cut_.aligned_to;
    Mapping& mapping = tiling.mapping;
    mapping.vector = choice.is_dense ? 1 : vector_;
    mapping.cluster = choice.cluster;
    mapping.threads_per_row = choice.group;
    const std::int64_t step = std::int64_t{choice.group} * mapping.vector * choice.cluster;
    tiling.tile_cols = step * ceil_div(cut_columns(tiling, length_), step);
    tiling.dense_rows = choice.is_dense;
    if (choice.is_dense) tiling.tile_cols = length_;
    int rows = std::max(1, choice.threads / choice.group);
    tiling.row_axis = rows > 1 ? facts_.row_axis_beside(col_axis_) : -1;
    if (tiling.row_axis < 0) rows = 1;
    tiling.tile_rows = rows;
    mapping.threads = std::max(kWarpThreads, choice.group * rows);
    if (mapping.threads / choice.group > rows)
      tiling.tile_rows = tiling.row_axis < 0 ? 1 : mapping.threads / choice.group;
    return tiling;
  }

  void add(const RowChoice& choice, bool is_chosen, std::vector<Config>& configs) const {
    Tiling tiling = tiling_of_choice(choice);
    if (!fits_block(tiling)) return;
    share_registers(tiling);
    configs.push_back(RowConfig{tiling});
    for (int programs : {1, 2})
      if (const std::optional<Tiling> prefetching = fetching(tiling, programs)) {
        const bool first = is_chosen && programs == chosen_prefetch(*prefetching);
        configs.insert(first ? configs.begin() : configs.end(), RowConfig{*prefetching});
      }
  }

  const GpuFacts& facts_;
  const Machine& machine_;
  const int col_axis_;
  const std::int64_t length_;
  const std::int64_t rows_;
  const Vectors cut_;
  const int vector_;
  const std::int64_t tiles_;  // live tiles of a row, read or computed
  const bool is_narrow_;
  const bool can_pack_;
  const bool is_packed_;  // a thread holds its elements as half2
  const bool has_shared_;
  const bool stores_at_once_;  // elements are stored without waiting for a reduction
  const bool stores_no_elements_;
};

}  // namespace

std::vector<Config> gpu_row_configs(const GpuFacts& facts, int col_axis, Wanted wanted) {
  return RowConfigs(facts, col_axis).configs(wanted);
}

}  // namespace sinter
