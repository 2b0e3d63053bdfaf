// Lowering to loops: one loop over the reduced axes per round of reductions (those that depend on
// the same number of earlier reductions). Values along the reduced axes are recomputed in each
// round. In: a group and its tiling. Out: the Kernel.
#pragma once

#include "src/lower/iteration.h"
#include "src/lower/kernel.h"

namespace sinter {

// `online`: online softmax sums are computed in the round of their maximum (online.h).
Kernel lower_rounds(const Plan& plan, GroupId group, const IterationSpace& space,
                    const Tiling& tiling, bool online);

}  // namespace sinter
