// The rules (gpu_row_rules.h) choose how a row is spread over threads. This file turns a choice
// into a config that fits registers and shared memory, and lists the alternatives.
#include "src/lower/gpu_row_configs.h"

#include <algorithm>
#include <optional>

#include "src/base/rounding.h"
#include "src/lower/gpu_row_rules.h"
#include "src/tile/access.h"
#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

using tile::kMostThreads;
using tile::kWarpThreads;
using tile::Mapping;

constexpr std::int64_t kMostHeld = 64;  // registers, including operands shared by all rows
constexpr std::int64_t kMostHeldPrefetching = 96;
constexpr std::int64_t kOtherRegisters = 48;  // per thread, besides held tiles
// Rows that begin anywhere and are held by more than a warp need registers for their ends. Where
// elements are packed, these come on top of the usual number; else the second is all they need.
constexpr std::int64_t kCutRegisters = 16;
constexpr std::int64_t kCutRegistersUnpacked = 36;

class RowConfigs {
 public:
  RowConfigs(const GpuFacts& facts, int col_axis, Vectors vectors)
      : row_(facts, col_axis, vectors), facts_(facts), machine_(facts.machine) {}

  Offer offer(Wanted wanted) {
    add_chosen();
    add_others(wanted);
    return std::move(offer_);
  }

  void add_others(Wanted wanted) {
    const std::int64_t vectors =
        ceil_div(row_.length, row_.vector) + (row_.cut.aligned_to < 0 ? 0 : 1);
    for (int cluster = 1; cluster <= machine_.largest_cluster; cluster *= 2)
      for (int group = cluster > 1 ? kBlockThreads : 1; group <= kMostThreads; group *= 2) {
        const std::int64_t each = ceil_div(vectors, std::int64_t{group} * cluster);
        if (each > 16 || (std::int64_t{group} * cluster > 2 * vectors)) continue;
        for (int threads : {64, 128, 256})
          if (threads >= group || threads == 256) {
            if (wanted == Wanted::best && !offer_.configs.empty()) return;
            add({group, cluster, threads});
          }
      }
  }

 private:
  // --- register and shared memory use of a config ---

  static std::int64_t elements(const Tiling& tiling) {  // per thread and row
    return tile::ThreadLayout(tiling.mapping).elements({1, tiling.tile_cols});
  }

  // Registers for a thread's elements of one tile. 16-bit floats stay packed (half2) until they are
  // used. What a row has one of takes no more.
  std::int64_t registers(const Tiling& tiling) const {
    return row_.is_packed ? elements(tiling) / 2 : elements(tiling) * row_.words_each();
  }
  std::int64_t held(const Tiling& tiling) const { return registers(tiling) * row_.tiles; }

  bool fits_block(const Tiling& tiling) const {
    const int threads = tiling.mapping.threads;
    return threads <= kMostThreads &&
           held(tiling) <= (threads > 512 ? kRowElements / 2 : kRowElements);
  }

  // Registers a thread needs besides the tiles it holds. Within a warp there is no barrier, so the
  // compiler unpacks elements for the next stage while it waits for the last one.
  std::int64_t other_registers(const Tiling& tiling, bool late_loads) const {
    const std::int64_t usual = usual_registers(tiling, late_loads);
    if (tiling.aligned_to < 0 || tiling.mapping.threads_per_row <= kWarpThreads) return usual;
    return row_.is_packed ? usual + kCutRegisters : kCutRegistersUnpacked;
  }
  std::int64_t usual_registers(const Tiling& tiling, bool late_loads) const {
    const bool in_warp = tiling.mapping.threads_per_row <= kWarpThreads;
    if (row_.is_packed) return (in_warp ? 64 : 32) + (late_loads ? 0 : 8 * row_.shared_reads);
    if (in_warp || !gains_from_room(tiling)) return kOtherRegisters;
    return facts_.needs_wide_offsets() ? 24 : 16;
  }

  // Whether higher occupancy is worth some spills. Results that replace the packed halves they come
  // from need few other registers; and if blocks are queued, one more resident block hides more
  // latency than the spills cost.
  bool gains_from_room(const Tiling& tiling) const {
    const std::int64_t usual = machine_.registers_per_multiprocessor /
                               (tiling.mapping.threads * (held(tiling) + kOtherRegisters));
    return row_.can_pack && row_.shared_reads == 0 &&
           blocks(tiling) > static_cast<double>(machine_.multiprocessors * usual);
  }

  // Loads everything at the start if the registers suffice, and limits the compiler's register use
  // to the planned occupancy: more resident blocks hide more latency. With prefetch the limit is
  // higher, because shared operands stay in registers from program to program.
  void share_registers(Tiling& tiling) const {
    Mapping& mapping = tiling.mapping;
    const std::int64_t all = registers(tiling) * (row_.tiles + row_.shared_reads);
    const std::int64_t room =
        machine_.registers_per_multiprocessor / mapping.threads - other_registers(tiling, false);
    if (mapping.prefetch > 0)
      mapping.late_loads = all > std::min(row_.is_packed ? kMostHeld : kMostHeldPrefetching, room);
    else
      mapping.late_loads = (row_.is_packed ? 2 : 1) * all > std::min(kMostHeld, room);
    const std::int64_t each =
        (mapping.late_loads ? held(tiling) : all) + other_registers(tiling, mapping.late_loads);
    const std::int64_t by_registers =
        machine_.registers_per_multiprocessor / (mapping.threads * each);
    const int most = std::min(machine_.threads_per_multiprocessor / mapping.threads,
                              machine_.blocks_per_multiprocessor);
    mapping.blocks_at_once = static_cast<int>(std::clamp<std::int64_t>(by_registers, 1, most));
  }

  // --- prefetch ---

  // Size of a block's prefetch buffer in bytes: the loads of `programs` programs, plus shared
  // operands that do not fit in registers. 0: the loads cannot be prefetched.
  std::int64_t fetch_bytes(const Tiling& tiling, int programs) const {
    const tile::ThreadLayout layout(tiling.mapping);
    std::int64_t bytes = 0;
    for (const Access& access : facts_.space.accesses) {
      if (facts_.is_full_read(access)) {
        if (!row_.has_whole_packs(access)) return 0;
        bytes += programs *
                 layout.block_bytes({tiling.tile_rows, tiling.tile_cols}, access.element_bytes);
      } else if (tiling.mapping.late_loads && row_.is_shared_read(access) &&
                 row_.has_whole_packs(access)) {
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
    return static_cast<double>(row_.rows) / static_cast<double>(tiling.tile_rows) *
           tiling.mapping.cluster;
  }
  // Number of waves: blocks divided by the blocks resident at once.
  double waves(const Tiling& tiling) const {
    return blocks(tiling) / (machine_.multiprocessors * tiling.mapping.blocks_at_once);
  }

  // --- candidates ---

  Tiling tiling_of_choice(const RowChoice& choice) const {
    Tiling tiling;
    tiling.col_axis = row_.col_axis;
    tiling.aligned_to = row_.cut.aligned_to;
    Mapping& mapping = tiling.mapping;
    mapping.vector = choice.is_dense ? 1 : row_.vector;
    mapping.cluster = choice.cluster;
    mapping.threads_per_row = choice.group;
    const std::int64_t step = std::int64_t{choice.group} * mapping.vector * choice.cluster;
    tiling.tile_cols = step * ceil_div(cut_columns(tiling, row_.length), step);
    tiling.dense_rows = choice.is_dense;
    if (choice.is_dense) tiling.tile_cols = row_.length;
    int rows = std::max(1, choice.threads / choice.group);
    tiling.row_axis = rows > 1 ? facts_.row_axis_beside(row_.col_axis) : -1;
    if (tiling.row_axis < 0) rows = 1;
    tiling.tile_rows = rows;
    mapping.threads = std::max(kWarpThreads, choice.group * rows);
    if (mapping.threads / choice.group > rows)
      tiling.tile_rows = tiling.row_axis < 0 ? 1 : mapping.threads / choice.group;
    return tiling;
  }

  // The rule's choice, with the prefetch that another rule chooses for it.
  void add_chosen() {
    const RowDecision decision = decide_row(row_);
    offer_.rules = {decision.rule};
    Tiling tiling = tiling_of_choice(decision.choice);
    if (!fits_block(tiling)) {
      offer_.rules = {first_that_fits()};
      return;
    }
    share_registers(tiling);
    offer_.configs.push_back(RowConfig{tiling});
    for (int programs : {1, 2})
      if (const std::optional<Tiling> prefetching = fetching(tiling, programs))
        add_chosen_prefetch(*prefetching);
  }

  void add_chosen_prefetch(const Tiling& tiling) {
    std::vector<Config>& configs = offer_.configs;
    const PrefetchFacts facts{row_, waves(tiling)};
    const PrefetchRule& rule = prefetch_rule(facts);
    const int depth = rule.choose(facts);
    const bool is_first = depth == tiling.mapping.prefetch;
    configs.insert(is_first ? configs.begin() : configs.end(), RowConfig{tiling});
    if (is_first || (depth == 0 && offer_.rules.size() == 1))
      offer_.rules.push_back(text_of(kPrefetchPart, rule));
  }

  void add(const RowChoice& choice) {
    Tiling tiling = tiling_of_choice(choice);
    if (!fits_block(tiling)) return;
    share_registers(tiling);
    offer_.configs.push_back(RowConfig{tiling});
    for (int programs : {1, 2})
      if (const std::optional<Tiling> prefetching = fetching(tiling, programs))
        offer_.configs.push_back(RowConfig{*prefetching});
  }

  const GpuRowFacts row_;
  const GpuFacts& facts_;
  const Machine& machine_;
  Offer offer_;
};

}  // namespace

Offer gpu_row_offer(const GpuFacts& facts, int col_axis, Wanted wanted) {
  const Vectors vectors = facts.row_vectors_along(col_axis);
  Offer offer = RowConfigs(facts, col_axis, vectors).offer(wanted);
  const Vectors even{facts.vector_along(col_axis), -1};
  if (wanted == Wanted::best || vectors.aligned_to < 0 || even.width == 1) return offer;
  const Offer narrower = RowConfigs(facts, col_axis, even).offer(wanted);
  offer.configs.insert(offer.configs.end(), narrower.configs.begin(), narrower.configs.end());
  return offer;
}

}  // namespace sinter
