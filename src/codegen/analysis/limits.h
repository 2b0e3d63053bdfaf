// Limits: replaces masks by loop bounds if all masks of a stage agree.
// In: a stage's instructions. Out: the loop bounds, and the part of a mask they do not cover.
#pragma once

#include <vector>

#include "src/codegen/analysis/affine.h"
#include "src/codegen/analysis/schedule.h"
#include "src/codegen/cpu/values.h"

namespace sinter {

// Limits of a loop over rows that runs these instructions.
RangeMask row_loop_limits(const CpuValues& values, const std::vector<const tile::Instr*>& rows);
// Limits of the loops over a stage's elements; `updated`: the loop-carried tiles it writes.
RangeMask element_loop_limits(const CpuValues& values, const Stage& stage,
                              const std::vector<tile::ValueId>& updated);

// The mask without the limits that the loop bounds already enforce.
RangeMask beside(const RangeMask& limits, const RangeMask& mask);

}  // namespace sinter
