// Limits: where a stage's masks agree, its loops' bounds take their place.
// In: a stage's instructions. Out: the loops' limits, and what a mask still has to say beside them.
#pragma once

#include <vector>

#include "src/codegen/analysis/affine.h"
#include "src/codegen/analysis/schedule.h"
#include "src/codegen/cpu/values.h"

namespace sinter {

// Of a loop over rows that runs these instructions.
PrefixMask row_loop_limits(const CpuValues& values, const std::vector<const tile::Instr*>& rows);
// Of the loops over a stage's elements; `updated`: the carried tiles it writes.
PrefixMask element_loop_limits(const CpuValues& values, const Stage& stage,
                               const std::vector<tile::ValueId>& updated);

// The mask without the limits that the loops' bounds are.
PrefixMask beside(const PrefixMask& limits, const PrefixMask& mask);

}  // namespace sinter
