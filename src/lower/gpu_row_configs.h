// Configs of the row form on GPUs: a row stays in the registers of a few lanes, a warp, a block or
// a cluster. In: facts of an IterationSpace. Out: candidates, the heuristic's choice first; none
// where nothing holds a row.
#pragma once

#include <vector>

#include "src/lower/config.h"
#include "src/lower/gpu_facts.h"

namespace sinter {

std::vector<Config> gpu_row_configs(const GpuFacts& facts, int col_axis);

}  // namespace sinter
