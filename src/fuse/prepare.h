// Rewrites before planning that make every group lowerable and parallel. Graph in, Graph out.
#pragma once

#include "src/fuse/plan.h"
#include "src/graph/graph.h"

namespace sinter {

// Splits a reduction with too few results to keep the workers busy into two: one over parts of the
// reduced axis, then one over the partial results.
Graph split_reductions(Graph graph, const FusionOptions& options);

// A reduction over several axes becomes one over the rows that another reduction of the same data
// walks, so that one kernel computes both, and a small one of the rows' results.
Graph totals_of_rows(Graph graph);

// Adds a copy node for outputs that are constants or ranges, and for concat operands that cannot be
// computed in place.
Graph materialize_leaves(Graph graph);

}  // namespace sinter
