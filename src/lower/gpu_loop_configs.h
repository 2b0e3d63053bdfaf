// Configs for reductions whose rows do not stay on chip: a block walks the reduced axes in a loop.
// In: facts of an IterationSpace. Out: configs, the best guess first.
#pragma once

#include <vector>

#include "src/lower/config.h"
#include "src/lower/gpu_facts.h"

namespace sinter {

std::vector<Config> gpu_chunked_configs(const GpuFacts& facts, int col_axis);
std::vector<Config> gpu_column_configs(const GpuFacts& facts, int col_axis);

// The kept axis along the columns of a reduction: memory is contiguous along it and not along the
// reduced axes. -1 if there is none.
int gpu_kept_column(const GpuFacts& facts);

}  // namespace sinter
