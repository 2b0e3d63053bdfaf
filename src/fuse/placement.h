// Placement: the order in which groups run, and where values that leave them are stored.
// In: a Plan's graph and a Grouping. Out: the Plan's groups, outputs and placements.
#pragma once

#include "src/fuse/grouping.h"
#include "src/fuse/plan.h"

namespace sinter {

// Fills in groups, in an order in which each comes after those it reads, and group_of.
void order_groups(const Grouping& grouping, Plan& plan);

// Finds the values that leave their group. Each gets a buffer, or its place in a concat's.
void place_values(Plan& plan);

// Values between kernels are not tensors of the program: 16-bit floats stay f32, as inside a
// kernel, if that costs next to nothing.
void widen_small_values(Plan& plan);

}  // namespace sinter
