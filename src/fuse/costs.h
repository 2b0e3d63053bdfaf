// Costs of a group: bytes it reads and writes, and its operations. In: a plan's groups and graph.
// Out: the counts that explain() and predictions use.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "src/fuse/plan.h"

namespace sinter {

// The views through which nodes from outside a group are read.
using OutsideReads = std::map<NodeId, std::vector<View>>;

template <typename IsInside>
void add_outside_reads(const Graph& graph, NodeId id, const IsInside& is_inside,
                       OutsideReads& reads) {
  for (const Operand& operand : graph[id].operands) {
    const Node& source = graph[operand.node];
    if (is_scalar(source.op) || source.op == Op::iota) continue;
    const bool is_memory = source.op == Op::input || source.op == Op::concat;
    if (!is_memory && is_inside(operand.node)) continue;
    std::vector<View>& views = reads[operand.node];
    if (std::find(views.begin(), views.end(), operand.view) == views.end())
      views.push_back(operand.view);
  }
}

// Fills in the group's counts; its nodes and outputs are there.
void count_costs(const Plan& plan, FusionGroup& group);

}  // namespace sinter
