// Rounding as operations that run one by one do it: each stores its result.
#pragma once

#include "src/graph/graph.h"

namespace sinter {

// Every 16-bit result is rounded where it is computed. Without that, kernels round what they store,
// and values in between keep the precision of f32.
Graph round_every_result(const Graph& graph);

}  // namespace sinter
