// Dead values: results that nothing uses. A program from the Builder has none, and each constant
// once, so that what a kernel computes is what its text shows.
#pragma once

#include "src/tile/program.h"

namespace sinter::tile {

// Drops every instruction without effect whose results are unused, and renumbers the values that
// are left in their order.
void remove_dead_values(TileProgram& program);

// Throws InternalError where remove_dead_values() would drop an instruction, or where a constant of
// the same dtype and bits is there twice.
void verify_no_waste(const TileProgram& program);

}  // namespace sinter::tile
