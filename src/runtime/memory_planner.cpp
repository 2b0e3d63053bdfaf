// Greedy by size: places the largest buffer first, each into the smallest sufficient gap between
// placed buffers with overlapping lifetimes, or after them.
#include "src/runtime/memory_planner.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "src/base/check.h"

namespace sinter {
namespace {

struct Placed {
  std::size_t begin = 0;
  std::size_t end = 0;
  const Lifetime* lifetime = nullptr;
};

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + kPlannedAlignment - 1) / kPlannedAlignment * kPlannedAlignment;
}

// `placed` is sorted by begin.
std::size_t best_offset(const Lifetime& lifetime, const std::vector<Placed>& placed) {
  const std::size_t bytes = aligned(lifetime.bytes);
  std::size_t best = 0;
  std::size_t best_gap = std::numeric_limits<std::size_t>::max();
  std::size_t free_from = 0;
  for (const Placed& other : placed) {
    if (!overlap(*other.lifetime, lifetime)) continue;
    if (other.begin >= free_from + bytes && other.begin - free_from < best_gap) {
      best = free_from;
      best_gap = other.begin - free_from;
    }
    free_from = std::max(free_from, other.end);
  }
  return best_gap == std::numeric_limits<std::size_t>::max() ? free_from : best;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes) {
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });

  MemoryPlan plan{std::vector<std::size_t>(lifetimes.size(), 0), 0};
  std::vector<Placed> placed;
  for (const std::size_t index : order) {
    const Lifetime& lifetime = lifetimes[index];
    SINTER_ASSERT(lifetime.first_step <= lifetime.last_step, "a lifetime of steps {} to {}",
                  lifetime.first_step, lifetime.last_step);
    if (lifetime.bytes == 0) continue;  // offset 0, no space
    const std::size_t begin = best_offset(lifetime, placed);
    const Placed block{begin, begin + aligned(lifetime.bytes), &lifetime};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block,
                                   [](const auto& a, const auto& b) { return a.begin < b.begin; }),
                  block);
    plan.offsets[index] = begin;
    plan.total_bytes = std::max(plan.total_bytes, block.end);
  }
  return plan;
}

}  // namespace sinter
