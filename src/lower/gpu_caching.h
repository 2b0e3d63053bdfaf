// Which data a GPU kernel asks the L2 cache to keep. In: facts of an IterationSpace. Out: a policy.
#pragma once

#include <vector>

#include "src/lower/config.h"
#include "src/lower/gpu_facts.h"

namespace sinter {

// `loops`: the kernel walks its rows in a loop, perhaps several times.
tile::Caching gpu_caching(const GpuFacts& facts, bool loops);

// The configs with the policy above, then all of them without one. Other policies are not worth
// measuring: samples that begin with a cold cache, and end before the results leave it, would
// favour policies that keep results.
std::vector<Config> with_cachings(const GpuFacts& facts, std::vector<Config> configs, bool loops);

}  // namespace sinter
