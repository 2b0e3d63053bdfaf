// The facts follow from the accesses of the group's space.
#include "src/lower/gpu_row_facts.h"

#include <algorithm>

#include "src/base/rounding.h"
#include "src/lower/row_alignment.h"
#include "src/tile/access.h"

namespace sinter {
namespace {

std::int64_t count_shared_reads(const GpuRowFacts& row) {
  const auto& accesses = row.facts.space.accesses;
  return std::count_if(accesses.begin(), accesses.end(),
                       [&](const Access& access) { return row.is_shared_read(access); });
}

// Operands that have an element for each of a row. With one row, shared ones are like the others.
int count_reads(const GpuFacts& facts, int axis) {
  if (!facts.space.batch_invariant) return facts.full_reads();
  const auto& accesses = facts.space.accesses;
  return static_cast<int>(std::count_if(accesses.begin(), accesses.end(), [&](const Access& each) {
    return !each.write && !each.per_row && GpuFacts::is_memory(each) && each.stride(axis) != 0;
  }));
}

}  // namespace

GpuRowFacts::GpuRowFacts(const GpuFacts& f, int axis, Vectors vectors)
    : facts(f),
      machine(f.machine),
      col_axis(axis),
      length(f.size(axis)),
      rows(f.kept_elements()),
      cut(vectors),
      vector(cut.width),
      tiles(std::max({1, count_reads(f, axis), f.space.kept_computed})),
      is_narrow(f.is_narrow(axis)),
      can_pack(f.is_16_bit(axis) && vector > 1),
      is_packed(can_pack && f.space.kept_computed == 0),
      shared_reads(count_shared_reads(*this)),
      stores_at_once(!f.space.needs_rows_again && f.writes_elements()),
      only_reduces(!f.writes_elements()) {}

int GpuRowFacts::threads_for(std::int64_t each) const {
  return static_cast<int>(power_above(ceil_div(length, std::max<std::int64_t>(each, vector))));
}

int GpuRowFacts::words_each() const {
  int words = 1;
  for (const Access& access : facts.space.accesses)
    if (GpuFacts::is_per_column(access, col_axis))
      words = std::max(words, access.element_bytes / 4);
  return words;
}

std::int64_t GpuRowFacts::vectors_per_thread(std::int64_t threads) const {
  return ceil_div(ceil_div(length, vector) + (cut.aligned_to < 0 ? 0 : 1), threads);
}

bool GpuRowFacts::pads_little(std::int64_t threads) const {
  const std::int64_t step = threads * vector;
  return 4 * step * ceil_div(length, step) <= 5 * length;
}

bool GpuRowFacts::is_shared_read(const Access& access) const {
  return !access.write && !access.per_row && GpuFacts::is_memory(access) &&
         access.stride(col_axis) != 0 && !facts.is_full_read(access);
}

bool GpuRowFacts::has_whole_packs(const Access& access) const {
  return access.windows.empty() && !access.split && access.stride(col_axis) == 1 &&
         cut.aligned_to < 0 && has_even_rows(access, col_axis, vector) &&
         tile::fill_packs(vector, access.element_bytes) && length % vector == 0;
}

bool GpuRowFacts::has_few_large_rows() const {
  const auto& accesses = facts.space.accesses;
  const bool can_fetch = std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) {
    return !facts.is_full_read(access) || has_whole_packs(access);
  });
  const int clusters = machine.largest_cluster;
  const bool has_too_few = length >= kLongest ? is_few(1) : 2 * rows < machine.multiprocessors;
  return shared_reads > 0 && !stores_at_once && can_fetch && clusters > 1 &&
         length > 2 * kLongRow && pads_little(kBlockThreads * clusters) && is_few(8) &&
         !has_too_few;
}

}  // namespace sinter
