// How a reduction lies in memory, which decides between the row, column and chunked families.
// In: an IterationSpace. Out: the answers of the machine's heuristic.
#pragma once

#include <string>

#include "src/base/machine.h"
#include "src/lower/iteration.h"

namespace sinter {

// The kept axis that belongs on the tile's columns; -1: a reduced one does.
int kept_column(const IterationSpace& space, const Machine& machine);

// Why programs cannot hold whole rows; empty if they can.
std::string row_refusal(const IterationSpace& space, const Machine& machine);

}  // namespace sinter
