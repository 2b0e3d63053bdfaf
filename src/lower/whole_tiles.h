// Lowering to whole tiles: every node of a group becomes one tile operation, and each program
// computes one tile from load to store. In: a group and its tiling. Out: the Kernel.
#pragma once

#include "src/lower/iteration.h"
#include "src/lower/kernel.h"

namespace sinter {

// Tiles hold whole rows if the tiling has a reduced axis along its columns.
Kernel lower_whole_tiles(const Plan& plan, GroupId group, const IterationSpace& space,
                         const Tiling& tiling);

}  // namespace sinter
