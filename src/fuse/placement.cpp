// Orders groups and assigns buffers.
#include "src/fuse/placement.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "src/base/check.h"

namespace sinter {
namespace {

// Counts, for each group and concat, the outside values it still waits for.
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
  ById<GroupId, int> groups_;  // sized by nodes: there are no more groups than nodes
  ById<NodeId, int> concats_;
};

}  // namespace

void order_groups(const Grouping& grouping, Plan& plan) {
  const Graph& graph = plan.graph;
  Waiting waiting(graph, grouping);
  plan.group_of.assign(graph.nodes.size(), kNoGroup);
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
        if (group != kNoGroup) plan.group_of[member] = plan.groups.end_id();
      }
      if (group != kNoGroup)
        plan.groups.push_back({.axes = grouping.axes(group),
                               .nodes = std::move(nodes),
                               .rows_on_chip = grouping.rows_on_chip()});
      if (group != kNoGroup)
        for (NodeId member : plan.groups.back().nodes)
          plan.groups.back().node_axes.push_back(grouping.axes_of(member));
    }
  }
  SINTER_ASSERT(std::count(has_run.begin(), has_run.end(), 0) == 0, "groups wait for each other");
}

namespace {

std::vector<NodeId> find_group_outputs(Plan& plan) {
  const Graph& graph = plan.graph;
  const auto group_of = [&](NodeId id) { return plan.group_of[id]; };
  ById<NodeId, char> leaves(graph.nodes.size(), 0);
  for (const Operand& output : graph.outputs) leaves[output.node] = 1;
  for (NodeId id = 0; id < graph.size(); ++id)
    for (const Operand& operand : graph[id].operands)
      if (group_of(operand.node) != group_of(id) || group_of(id) < 0) leaves[operand.node] = 1;
  std::vector<NodeId> found;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!computes(graph[id]) || !leaves[id]) continue;
    plan.groups[group_of(id)].outputs.push_back(id);
    found.push_back(id);
  }
  return found;
}

// The layout that a node needs so that a result, a permutation of all its elements, has the layout
// `wanted`; nullopt if no strides achieve that.
std::optional<View> view_of_node(const Node& node, const View& result, const View& wanted) {
  if (result.shape.numel() != node.shape.numel()) return std::nullopt;
  Shape order;
  for (int i = 0; i < result.shape.rank(); ++i) order.push_back(i);
  std::stable_sort(&order[0], &order[0] + order.rank(), [&](std::int64_t a, std::int64_t b) {
    const auto stride = [&](std::int64_t i) { return result.strides[static_cast<int>(i)]; };
    const auto is_one = [&](std::int64_t i) { return result.shape[static_cast<int>(i)] == 1; };
    if (is_one(a) || is_one(b)) return is_one(a) && !is_one(b);
    return stride(a) > stride(b);
  });
  if (!is_identity(permute(result, order))) return std::nullopt;
  return reshape(permute({wanted.shape, wanted.strides, 0}, order), node.shape);
}

using NodeViews = std::map<NodeId, View>;

// Whether a node runs alone by default, but not if its result has the layout `wanted`.
bool loses_its_kernel(const Graph& graph, const Node& node, const View& wanted,
                      const AloneRule& runs_alone) {
  return runs_alone && !runs_alone(graph, node, dense_view(node.shape)).empty() &&
         runs_alone(graph, node, wanted).empty();
}

NodeViews views_for(const Graph& graph, std::span<const View> wanted, const AloneRule& runs_alone) {
  NodeViews views;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Operand& output = graph.outputs[i];
    const Node& node = graph[output.node];
    if (views.count(output.node) || !(computes(node) || node.op == Op::concat)) continue;
    const auto view = view_of_node(node, output.view, wanted[i]);
    if (view && !loses_its_kernel(graph, node, *view, runs_alone))
      views.emplace(output.node, *view);
  }
  return views;
}

void place(Plan& plan, const std::vector<NodeId>& stored, const NodeViews& views) {
  const Graph& graph = plan.graph;
  const auto placement = [&](NodeId id) -> Placement& { return plan.placements[id]; };
  const auto place_alone = [&](NodeId id) {
    const auto given = views.find(id);
    placement(id) = {id, given != views.end() ? given->second : dense_view(graph[id].shape)};
  };
  plan.placements.assign(graph.nodes.size(), {});
  for (NodeId id : stored) place_alone(id);
  for (NodeId id = 0; id < graph.size(); ++id)
    if (graph[id].op == Op::input || graph[id].op == Op::concat) place_alone(id);
  // Last concat first, so that a nested concat is placed before its own parts.
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

// Forgets the views of buffers from which some operand could not be read. False if there are none.
bool drop_unreadable(const Plan& plan, NodeViews& views) {
  const Graph& graph = plan.graph;
  std::set<NodeId> unreadable;
  const auto check = [&](const Operand& operand) {
    const Placement& place = plan.placements[operand.node];
    if (views.count(place.buffer) && !compose(operand.view, place.view))
      unreadable.insert(place.buffer);
  };
  const auto group_of = [&](NodeId id) { return plan.group_of[id]; };
  for (NodeId id = 0; id < graph.size(); ++id)
    for (const Operand& operand : graph[id].operands)
      if (group_of(id) < 0 || group_of(operand.node) != group_of(id)) check(operand);
  for (const Operand& output : graph.outputs) check(output);
  for (NodeId id : unreadable) views.erase(id);
  return !unreadable.empty();
}

}  // namespace

void place_values(Plan& plan, std::span<const View> wanted, const AloneRule& runs_alone) {
  const std::vector<NodeId> stored = find_group_outputs(plan);
  NodeViews views = views_for(plan.graph, wanted, runs_alone);
  do {
    place(plan, stored, views);
  } while (drop_unreadable(plan, views));
}

void widen_small_values(Plan& plan) {
  constexpr std::int64_t kMuchSmaller = 32;
  std::int64_t largest = 0;
  for (const FusionGroup& group : plan.groups) largest = std::max(largest, numel(group.axes));
  std::set<NodeId> returned;
  for (const Operand& output : plan.graph.outputs) returned.insert(output.node);
  for (NodeId id = 0; id < plan.graph.size(); ++id) {
    Node& node = plan.graph[id];
    const bool is_passed_on =
        computes(node) && !returned.count(id) && plan.placements[id].buffer == id;
    const bool is_small = node.shape.numel() * kMuchSmaller <= largest;
    if (is_passed_on && node.op != Op::cast && (is_small || plan.batch_invariant))
      node.dtype = compute_dtype(node.dtype);
  }
}

}  // namespace sinter
