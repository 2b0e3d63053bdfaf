// Dead code elimination. A program from the Builder has no dead values and no duplicate constants,
// so its text shows exactly what the kernel computes.
#pragma once

#include "src/tile/program.h"

namespace sinter::tile {

// Removes every instruction without side effects whose results are unused, and renumbers the
// remaining values in order.
void remove_dead_values(TileProgram& program);

// Throws InternalError if remove_dead_values() would remove an instruction, or if two constants
// have the same dtype and bits.
void verify_no_waste(const TileProgram& program);

}  // namespace sinter::tile
