// Chooses which data a GPU kernel asks the L2 cache to keep. In: GpuFacts. Out: a cache policy.
#pragma once

#include <vector>

#include "src/lower/config.h"
#include "src/lower/gpu_facts.h"

namespace sinter {

// `loops`: the kernel loops over its rows, possibly several times.
tile::Caching gpu_caching(const GpuFacts& facts, bool loops);

// The configs with the policy above, then all of them without one. Other policies are not measured:
// a sample starts with a cold cache and ends before its results are evicted, which would favour
// policies that keep results.
std::vector<Config> with_cachings(const GpuFacts& facts, std::vector<Config> configs, bool loops);

}  // namespace sinter
