// Orders and places.
#include "src/fuse/placement.h"

#include <algorithm>
#include <set>

#include "src/base/check.h"

namespace sinter {
namespace {

// Counts, for each group and concat, the values from outside that it still waits for.
class Waiting {
 public:
  Waiting(const Graph& graph, const Grouping& grouping)
      : graph_(graph), grouping_(grouping), readers_(graph.nodes.size()) {
    groups_.resize(graph.nodes.size(), 0);
    concats_.resize(graph.nodes.size(), 0);
    for (NodeId id = 0; id < graph.size(); ++id)
      for (const Operand& operand : graph[id].operands) {
        if (is_leaf(operand.node)) continue;
        const GroupId group = grouping.group_of(id);
        if (group != kNoGroup && grouping.group_of(operand.node) == group) continue;
        readers_[operand.node].push_back(id);
        ++count_of(id);
      }
  }

  bool is_leaf(NodeId id) const { return !computes(graph_[id]) && graph_[id].op != Op::concat; }
  bool is_ready(NodeId id) { return count_of(id) == 0; }
  void has_run(NodeId id) {
    for (NodeId reader : readers_[id]) --count_of(reader);
  }

 private:
  int& count_of(NodeId id) {
    const GroupId group = grouping_.group_of(id);
    return group == kNoGroup ? concats_[id] : groups_[group];
  }

  const Graph& graph_;
  const Grouping& grouping_;
  ById<NodeId, std::vector<NodeId>> readers_;
  ById<GroupId, int> groups_;  // there are no more groups than nodes
  ById<NodeId, int> concats_;
};

}  // namespace

void order_groups(const Grouping& grouping, Plan& plan) {
  const Graph& graph = plan.graph;
  Waiting waiting(graph, grouping);
  plan.group_of.assign(graph.nodes.size(), -1);
  ById<NodeId, char> has_run(graph.nodes.size(), 0);
  for (NodeId id = 0; id < graph.size(); ++id) has_run[id] = waiting.is_leaf(id);
  for (bool progress = true; progress;) {
    progress = false;
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (has_run[id] || !waiting.is_ready(id)) continue;
      progress = true;
      const GroupId group = grouping.group_of(id);
      std::vector<NodeId> nodes = group == kNoGroup ? std::vector{id} : grouping.members(group);
      for (NodeId member : nodes) {
        has_run[member] = 1;
        waiting.has_run(member);
        if (group != kNoGroup)
          plan.group_of[static_cast<std::size_t>(member)] = static_cast<int>(plan.groups.size());
      }
      if (group != kNoGroup)
        plan.groups.push_back({.axes = grouping.axes(group), .nodes = std::move(nodes)});
      if (group != kNoGroup)
        for (NodeId member : plan.groups.back().nodes)
          plan.groups.back().node_axes.push_back(grouping.axes_of(member));
    }
  }
  SINTER_ASSERT(std::count(has_run.begin(), has_run.end(), 0) == 0, "groups wait for each other");
}

void place_values(Plan& plan) {
  const Graph& graph = plan.graph;
  const auto group_of = [&](NodeId id) { return plan.group_of[static_cast<std::size_t>(id)]; };
  const auto placement = [&](NodeId id) -> Placement& {
    return plan.placements[static_cast<std::size_t>(id)];
  };
  ById<NodeId, char> leaves(graph.nodes.size(), 0);
  for (const Operand& output : graph.outputs) leaves[output.node] = 1;
  for (NodeId id = 0; id < graph.size(); ++id)
    for (const Operand& operand : graph[id].operands)
      if (group_of(operand.node) != group_of(id) || group_of(id) < 0) leaves[operand.node] = 1;
  plan.placements.resize(graph.nodes.size());
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    const bool leaves_its_group = computes(node) && leaves[id];
    if (node.op == Op::input || node.op == Op::concat || leaves_its_group)
      placement(id) = {id, dense_view(node.shape)};
    if (leaves_its_group) plan.groups[static_cast<std::size_t>(group_of(id))].outputs.push_back(id);
  }
  // From the last concat back, so that a concat inside a concat finds its own place first.
  for (NodeId id = graph.size() - 1; id >= 0; --id) {
    const Node& node = graph[id];
    if (node.op != Op::concat) continue;
    std::int64_t start = 0;
    const auto axis = static_cast<int>(node.axes);
    for (const Operand& operand : node.operands) {
      const std::int64_t size = operand.view.shape[axis];
      const Placement whole = placement(id);
      placement(operand.node) = {whole.buffer, slice(whole.view, axis, start, size, 1)};
      start += size;
    }
  }
}

void widen_small_values(Plan& plan) {
  constexpr std::int64_t kMuchSmaller = 32;
  std::int64_t largest = 0;
  for (const FusionGroup& group : plan.groups) largest = std::max(largest, numel(group.axes));
  std::set<NodeId> returned;
  for (const Operand& output : plan.graph.outputs) returned.insert(output.node);
  for (NodeId id = 0; id < plan.graph.size(); ++id) {
    Node& node = plan.graph[id];
    const bool is_passed_on = computes(node) && !returned.count(id) &&
                              plan.placements[static_cast<std::size_t>(id)].buffer == id;
    if (is_passed_on && node.op != Op::cast && node.shape.numel() * kMuchSmaller <= largest)
      node.dtype = compute_dtype(node.dtype);
  }
}

}  // namespace sinter
