// Eager rounding: round the way operations do when each runs alone and stores its result.
#pragma once

#include "src/graph/graph.h"

namespace sinter {

// Rounds every 16-bit result where it is computed. Without this pass, kernels round only the values
// they store and keep intermediate values in f32.
Graph round_every_result(const Graph& graph);

}  // namespace sinter
