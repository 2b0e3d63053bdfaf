// Configs of the pointwise family on GPUs. In: GpuFacts. Out: the best guess, or all candidates
// with the best guess first.
#pragma once

#include <vector>

#include "src/lower/config.h"
#include "src/lower/gpu_facts.h"

namespace sinter {

Tiling best_pointwise_tiling(const GpuFacts& facts);
std::vector<Config> gpu_pointwise_configs(const GpuFacts& facts);

}  // namespace sinter
