// Where a plan's intermediates lie in one block of memory: those whose lifetimes do not meet may
// share bytes. In: sizes and lifetimes. Out: offsets and the block's size.
#pragma once

#include <cstddef>
#include <vector>

namespace sinter {

inline constexpr std::size_t kPlannedAlignment = 64;

// Written at first_step, last read at last_step; both steps count.
struct Lifetime {
  std::size_t bytes = 0;
  int first_step = 0;
  int last_step = 0;
};

struct MemoryPlan {
  std::vector<std::size_t> offsets;  // one a lifetime, multiples of kPlannedAlignment
  std::size_t total_bytes = 0;
};

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes);

}  // namespace sinter
