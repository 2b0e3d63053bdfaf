// Gives the values of a tile program other numbers.
#pragma once

#include "src/base/by_id.h"
#include "src/tile/program.h"

namespace sinter::tile {

// `numbers` maps each value to its new number. The new numbers are 0, 1, .. without gaps; kNoValue
// drops a value, which no instruction may mention.
void renumber_values(TileProgram& program, const ById<ValueId, ValueId>& numbers);

}  // namespace sinter::tile
