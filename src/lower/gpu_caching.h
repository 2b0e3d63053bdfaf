// Chooses which data a GPU kernel asks the L2 cache to keep. In: GpuFacts and an offer. Out: the
// offer with a cache policy and the rule that chose it.
#pragma once

#include <vector>

#include "src/lower/family.h"
#include "src/lower/gpu_facts.h"
#include "src/lower/rules.h"

namespace sinter {

// `loops`: the kernel loops over its rows, possibly several times.
void choose_caching(const GpuFacts& facts, bool loops, Offer& offer);

// The configs with that policy, then all of them without one. Other policies are not measured: a
// sample starts with a cold cache and ends before its results are evicted, which would favour
// policies that keep results.
void choose_or_omit_caching(const GpuFacts& facts, bool loops, Offer& offer);

void list_caching_rules(std::vector<RuleText>& texts);

}  // namespace sinter
