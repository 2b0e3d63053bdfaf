// The memory layout of a reduction, which decides between the row, column and chunked families.
// In: an IterationSpace. Out: the decision of the machine's heuristic.
#pragma once

#include <string>

#include "src/base/machine.h"
#include "src/lower/iteration.h"

namespace sinter {

// The kept axis to use as the tile's columns; -1: use a reduced axis.
int kept_column(const IterationSpace& space, const Machine& machine);

// Why programs cannot hold whole rows; empty if they can.
std::string row_refusal(const IterationSpace& space, const Machine& machine);

}  // namespace sinter
