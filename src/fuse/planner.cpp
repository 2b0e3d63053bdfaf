// The planner: prepares the graph, groups its nodes, orders and places the groups, explains the
// unfused edges and counts costs.
#include <utility>

#include "src/fuse/costs.h"
#include "src/fuse/grouping.h"
#include "src/fuse/placement.h"
#include "src/fuse/plan.h"
#include "src/fuse/prepare.h"
#include "src/fuse/products.h"
#include "src/fuse/unfused.h"

namespace sinter {

Plan make_plan(Graph graph, const FusionOptions& options, std::span<const View> wanted) {
  Plan plan;
  plan.separate_ops = options.separate_ops;
  plan.batch_invariant = options.batch_invariant;
  // With one row no operand of a product is reused, but the order of additions must be a product's.
  if (options.fuse && !options.batch_invariant) graph = products_as_sums(std::move(graph));
  if (options.fuse) graph = totals_of_rows(std::move(graph));
  plan.graph = materialize_leaves(split_reductions(std::move(graph), options));
#ifndef NDEBUG
  verify(plan.graph);
#endif
  Grouping grouping(plan.graph, options);
  if (options.fuse) grouping.merge_all();
  order_groups(grouping, plan);
  place_values(plan, wanted, options.runs_alone);
  if (options.fuse) widen_small_values(plan);
  plan.unfused = unfused_edges(plan, grouping, options.fuse);
  plan.shared_reads = shared_reads(plan, grouping, options.fuse);
  for (FusionGroup& group : plan.groups) count_costs(plan, group);
#ifndef NDEBUG
  verify(plan);
#endif
  return plan;
}

}  // namespace sinter
