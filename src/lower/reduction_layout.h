// The memory layout of a reduction, which decides between the row, column and chunked families.
// In: an IterationSpace. Out: the decision of the machine's heuristic.
#pragma once

#include <string>

#include "src/base/machine.h"
#include "src/lower/iteration.h"

namespace sinter {

// Whether a kept axis lies along the tile's columns, rather than a reduced one.
bool reduces_columns(const IterationSpace& space, const Machine& machine);
// That axis; -1 if there is none, as all kept axes have one element.
int kept_column(const IterationSpace& space, const Machine& machine);

// Why programs cannot hold whole rows; empty if they can.
std::string row_refusal(const IterationSpace& space, const Machine& machine);

}  // namespace sinter
