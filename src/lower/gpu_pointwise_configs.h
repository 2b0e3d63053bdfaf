// Configs of the pointwise family on GPUs. In: GpuFacts. Out: the best guess with the rule that
// chose it, or all candidates with the best guess first.
#pragma once

#include <vector>

#include "src/lower/family.h"
#include "src/lower/gpu_facts.h"
#include "src/lower/rules.h"

namespace sinter {

Offer best_pointwise_offer(const GpuFacts& facts);
Offer gpu_pointwise_offer(const GpuFacts& facts);

void list_pointwise_rules(std::vector<RuleText>& texts);

}  // namespace sinter
