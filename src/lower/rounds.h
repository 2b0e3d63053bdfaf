// Lowering to loops: the reduced axes are walked once for each round of reductions (those that
// depend on the same number of earlier ones), and values along the reduced axes are computed again
// in each round. In: a group and its tiling. Out: the Kernel.
#pragma once

#include "src/lower/iteration.h"
#include "src/lower/kernel.h"

namespace sinter {

// `online`: sums of exponentials below a maximum share the maximum's round (online.h).
Kernel lower_rounds(const Plan& plan, int group, const IterationSpace& space, const Tiling& tiling,
                    bool online);

}  // namespace sinter
