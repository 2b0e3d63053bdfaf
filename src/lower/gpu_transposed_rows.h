// Short reductions over few columns: a block loads whole columns at once and turns them into rows
// in shared memory. In: GpuFacts. Out: the tiling, or nothing.
#pragma once

#include <optional>

#include "src/lower/config.h"
#include "src/lower/gpu_facts.h"
#include "src/lower/rules.h"

namespace sinter {

std::optional<Tiling> transposed_row_tiling(const GpuFacts& facts);
RuleText transposed_row_rule();

}  // namespace sinter
