// Assigns a plan's intermediates offsets in one allocation; buffers with disjoint lifetimes may
// share bytes. In: sizes and lifetimes. Out: offsets and the total size.
#pragma once

#include <cstddef>
#include <vector>

namespace sinter {

// cuBLASLt needs it for its workspace on Hopper; a GPU's allocations have it, too.
inline constexpr std::size_t kPlannedAlignment = 256;

// Written at first_step, last read at last_step, both inclusive.
struct Lifetime {
  std::size_t bytes = 0;
  int first_step = 0;
  int last_step = 0;
};

struct MemoryPlan {
  std::vector<std::size_t> offsets;  // one per lifetime, multiples of kPlannedAlignment
  std::size_t total_bytes = 0;
};

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes);

}  // namespace sinter
