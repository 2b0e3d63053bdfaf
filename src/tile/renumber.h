// Renumbers the values of a tile program.
#pragma once

#include "src/base/by_id.h"
#include "src/tile/program.h"

namespace sinter::tile {

// `numbers` maps each value to its new number. New numbers are 0, 1, .. without gaps; kNoValue
// removes a value, which no instruction may use.
void renumber_values(TileProgram& program, const ById<ValueId, ValueId>& numbers);

}  // namespace sinter::tile
