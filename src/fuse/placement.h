// Placement: the order in which groups run, and where their outputs are stored.
// In: a Plan's graph and a Grouping. Out: the Plan's groups, outputs and placements.
#pragma once

#include <span>

#include "src/fuse/grouping.h"
#include "src/fuse/plan.h"

namespace sinter {

// Fills in groups, in topological order, and group_of.
void order_groups(const Grouping& grouping, Plan& plan);

// Finds the values read outside their group. Each gets its own buffer or a slice of a concat's.
// `wanted`: the requested memory layout of each result; empty if any will do. A result gets another
// layout if it is not a whole buffer, if a kernel could not read it back from there, or if a node
// that runs alone because of its kernel could not use that kernel.
void place_values(Plan& plan, std::span<const View> wanted = {},
                  const AloneRule& runs_alone = nullptr);

// Keeps small 16-bit intermediate values in f32 between kernels, as inside a kernel, where the
// extra traffic is negligible. Tensors the program returns keep their dtype.
void widen_small_values(Plan& plan);

}  // namespace sinter
