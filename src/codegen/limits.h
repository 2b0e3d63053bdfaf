// Limits: where a stage's masks agree, its loops' bounds take their place.
// In: a stage's instructions. Out: the loops' limits, and what a mask still has to say beside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/codegen/affine.h"
#include "src/codegen/schedule.h"

namespace sinter {

// Of the loop over a stage's rows.
PrefixMask row_loop_limits(const IndexAnalysis& index, const std::vector<const tile::Instr*>& rows);
// Of the loops over its elements.
PrefixMask element_loop_limits(const IndexAnalysis& index, const ProgramFacts& facts,
                               const Stage& stage);

// The mask without the limits that the loops' bounds are.
PrefixMask beside(const PrefixMask& limits, const PrefixMask& mask);

// A loop's bound: the tile's size, or less where the limit is.
std::string bound_text(const std::string& limit, std::int64_t size);

}  // namespace sinter
