// Costs of a group: bytes read, bytes written and operations. In: a plan's groups and graph.
// Out: the counts used by explain() and by time predictions.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "src/fuse/plan.h"

namespace sinter {

// Nodes outside a group that it reads, each with the distinct views it is read through.
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

// Fills in the group's counts. Its nodes and outputs must be set.
void count_costs(const Plan& plan, FusionGroup& group);

}  // namespace sinter
