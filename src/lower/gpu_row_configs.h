// Configs of the row family on GPUs: a row stays in the registers of a few lanes, a warp, a block
// or a cluster. In: GpuFacts. Out: candidates, best guess first, and the rules behind it; none if a
// row does not fit on chip.
#pragma once

#include "src/lower/family.h"
#include "src/lower/gpu_facts.h"

namespace sinter {

Offer gpu_row_offer(const GpuFacts& facts, int col_axis, Wanted wanted);

}  // namespace sinter
