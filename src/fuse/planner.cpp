// The planner: prepare the graph, group its nodes, order and place the groups, explain and count.
#include "src/fuse/costs.h"
#include "src/fuse/grouping.h"
#include "src/fuse/placement.h"
#include "src/fuse/plan.h"
#include "src/fuse/prepare.h"
#include "src/fuse/products.h"
#include "src/fuse/unfused.h"

namespace sinter {

Plan make_plan(const Graph& graph, const FusionOptions& options) {
  Plan plan;
  const Graph prepared = options.fuse ? products_as_sums(graph) : graph;
  plan.graph = materialize_leaves(split_reductions(prepared, options));
#ifndef NDEBUG
  verify(plan.graph);
#endif
  Grouping grouping(plan.graph, options);
  if (options.fuse) grouping.merge_all();
  order_groups(grouping, plan);
  place_values(plan);
  if (options.fuse) widen_small_values(plan);
  plan.unfused = unfused_edges(plan, grouping, options.fuse);
  for (FusionGroup& group : plan.groups) count_costs(plan, group);
#ifndef NDEBUG
  verify(plan);
#endif
  return plan;
}

}  // namespace sinter
