// Two plans are alike if they have the same operations in the same kernels; byte counts and tile
// sizes differ from shape to shape.
#include "src/suite/results/plans.h"

#include <algorithm>

namespace sinter::suite {
namespace {

bool look_the_same(const PlanInfo& a, const PlanInfo& b) {
  const auto same_node = [](const PlanNode& x, const PlanNode& y) {
    return x.op == y.op && x.kernel == y.kernel && x.is_output == y.is_output;
  };
  const auto same_edge = [](const PlanEdge& x, const PlanEdge& y) {
    return x.from == y.from && x.to == y.to && x.fused == y.fused && x.reason == y.reason;
  };
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_node) &&
         std::equal(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end(), same_edge);
}

}  // namespace

void add_plan(std::vector<CasePlan>& plans, const ResultRow& row, PlanInfo plan) {
  const auto known = std::find_if(plans.begin(), plans.end(), [&](const CasePlan& each) {
    return each.case_name == row.case_name && each.dtype == row.dtype &&
           look_the_same(each.plan, plan);
  });
  if (known == plans.end())
    plans.push_back({row.case_name, row.dtype, {row.shape}, std::move(plan)});
  else if (std::find(known->shapes.begin(), known->shapes.end(), row.shape) == known->shapes.end())
    known->shapes.push_back(row.shape);
}

}  // namespace sinter::suite
