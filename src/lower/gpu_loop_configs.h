// Configs for reductions whose rows do not stay on chip: a block loops over the reduced axes.
// In: GpuFacts. Out: configs, best guess first, and the rule behind it.
#pragma once

#include <vector>

#include "src/lower/family.h"
#include "src/lower/gpu_facts.h"
#include "src/lower/rules.h"

namespace sinter {

Offer gpu_chunked_offer(const GpuFacts& facts, int col_axis);
Offer gpu_column_offer(const GpuFacts& facts, int col_axis);

// The kept axis along which memory is contiguous, rather than along the reduced axes; -1 if there
// is none.
int contiguous_kept_axis(const GpuFacts& facts);
// That axis, if it is best used as a reduction's tile columns; -1 otherwise.
int gpu_kept_column(const GpuFacts& facts);

void list_loop_rules(std::vector<RuleText>& texts);

}  // namespace sinter
