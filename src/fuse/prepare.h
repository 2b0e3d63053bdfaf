// Rewrites before planning that make every group lowerable and parallel. Graph in, Graph out.
#pragma once

#include "src/fuse/plan.h"
#include "src/graph/graph.h"

namespace sinter {

// A reduction with too few results to keep the workers busy becomes two: parts of the reduced axis
// first, then the parts' results.
Graph split_reductions(const Graph& graph, const FusionOptions& options);

// Outputs that are constants or ranges, and concat operands that cannot be computed in place, get a
// copy node of their own.
Graph materialize_leaves(const Graph& graph);

}  // namespace sinter
