// Merging. Group ids stay what they were when a smaller group is merged into a larger one, so that
// a program of many nodes is grouped in little more than linear time.
#include "src/fuse/grouping.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "src/base/check.h"
#include "src/fuse/costs.h"
#include "src/fuse/products.h"
#include "src/graph/power.h"

namespace sinter {

bool computes(const Node& node) { return is_pointwise(node.op) || is_reduction(node.op); }

namespace {

int work_of(const Graph& graph, const Node& node) { return std::max(1, cost_of(graph, node)); }

}  // namespace

Grouping::Grouping(const Graph& graph, const FusionOptions& options)
    : graph_(graph),
      options_(options),
      users_(graph.nodes.size()),
      is_output_(graph.nodes.size(), 0),
      unit_of_(graph.nodes.size(), kNoGroup),
      node_axes_(graph.nodes.size()) {
  for (const Operand& output : graph.outputs) is_output_[output.node] = 1;
  // Reductions one after the other, up to a node: those of the same round can share a pass.
  ById<NodeId, int> rounds(graph.nodes.size(), 0);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    for (const Operand& operand : node.operands) {
      users_[operand.node].push_back(id);
      rounds[id] = std::max(rounds[id], rounds[operand.node]);
    }
    if (!computes(node) && node.op != Op::concat) continue;
    unit_of_[id] = units_.push_back({{id}, space_of(node), work_of(graph, node)});
    node_axes_[id] = sinter::axes_of(node);
    order_.push_back(unit_of_[id]);
    if (is_reduction(node.op)) units_.back().reductions[++rounds[id]] = 1;
    units_.back().has_contraction = node.op == Op::contract;
    units_.back().runs_in_library = runs_in_library(graph, node, options);
  }
}

std::vector<NodeId> Grouping::members(GroupId group) const {
  std::vector<NodeId> sorted = units_[group].members;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// Groups of the same shape first: a merge that splits axes must not stand in the way of one that
// does not.
void Grouping::merge_all() {
  for (const SplitAxes split : {SplitAxes::no, SplitAxes::yes}) {
    split_axes_ = split;
    merge_along_edges();
    merge_readers_of_one_input();
  }
}

// Runs to a fixed point: a merge can give a group the row structure that makes another one fit.
void Grouping::merge_along_edges() {
  for (bool changed = true; changed;) {
    changed = false;
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!computes(graph_[id])) continue;
      for (const Operand& operand : graph_[id].operands)
        if (computes(graph_[operand.node]))
          changed |= try_merge(group_of(operand.node), group_of(id));
    }
  }
}

void Grouping::merge_readers_of_one_input() {
  for (NodeId source = 0; source < graph_.size(); ++source) {
    if (is_scalar(graph_[source].op)) continue;
    std::vector<NodeId> readers;  // one for each group
    std::set<GroupId> seen;
    for (NodeId user : users_[source])
      if (computes(graph_[user]) && seen.insert(group_of(user)).second) readers.push_back(user);
    for (std::size_t i = 0; i < readers.size(); ++i)
      for (std::size_t j = i + 1; j < readers.size(); ++j)
        try_merge(group_of(readers[i]), group_of(readers[j]));
  }
}

bool Grouping::try_merge(GroupId a, GroupId b) {
  if (a == b) return false;
  const SpaceVerdict verdict = judge(a, b);
  if (!verdict.space) return false;
  map_members(a, verdict.space->from_a);
  map_members(b, verdict.space->from_b);
  const bool a_is_larger = units_[a].members.size() > units_[b].members.size();
  Group& target = units_[a_is_larger ? a : b];
  Group& merged = units_[a_is_larger ? b : a];
  reorder(a, b, a_is_larger ? a : b);
  for (NodeId id : merged.members) unit_of_[id] = a_is_larger ? a : b;
  target.members.insert(target.members.end(), merged.members.begin(), merged.members.end());
  target.axes = verdict.space->axes;
  target.work += merged.work;
  target.has_contraction |= merged.has_contraction;
  for (const auto& [round, count] : merged.reductions) target.reductions[round] += count;
  merged.members.clear();
  return true;
}

void Grouping::map_members(GroupId group, const std::vector<AxisList>& to_joint) {
  if (is_identity(to_joint)) return;
  for (NodeId id : units_[group].members) {
    NodeAxes& axes = node_axes_[id];
    axes = {mapped(axes.computed_over, to_joint), mapped(axes.result, to_joint)};
  }
}

SpaceVerdict Grouping::judge(GroupId a, GroupId b) const {
  if (units_[a].runs_in_library || units_[b].runs_in_library)
    return {{}, "the matrix product runs in cuBLASLt, which gains more than fusing would"};
  if (units_[a].has_contraction && units_[b].has_contraction)
    return {{}, "each matrix product has a kernel of its own"};
  SpaceVerdict verdict = join_spaces(axes(a), axes(b), split_axes_);
  if (!verdict.space) return verdict;
  if (!options_.split_rows && long_reduced_axes(verdict.space->axes) >
                                  std::max(long_reduced_axes(axes(a)), long_reduced_axes(axes(b))))
    return {{}, "rows of several axes would not stay on chip"};
  if (has_misaligned_edge(a, b, *verdict.space))
    return {{}, first_misaligned_edge(a, b, *verdict.space)};
  if (std::string reason = too_large(a, b); !reason.empty()) return {{}, std::move(reason)};
  if (has_path_around(a, b)) return {{}, "another kernel has to run between them"};
  return verdict;
}

std::string Grouping::refusal(GroupId a, GroupId b) const {
  const std::string reason = judge(a, b).refusal;
  return reason.empty() ? "they read nothing in common" : reason;
}

Grouping::Edge Grouping::edge_axes(NodeId reader, NodeId source, GroupId a,
                                   const JointSpace& joint) const {
  const auto to_joint = [&](NodeId id) -> const std::vector<AxisList>& {
    return group_of(id) == a ? joint.from_a : joint.from_b;
  };
  return {mapped(node_axes_[reader].computed_over, to_joint(reader)),
          mapped(node_axes_[source].result, to_joint(source))};
}

// Whether a node reads of another one just the element it is at.
bool Grouping::is_aligned(const Operand& operand, const Edge& edge, const GroupAxes& axes) const {
  return operand.view.offset == 0 && !operand.view.is_padded() &&
         are_same_elements(strides_along(operand.view, edge.reader, axes),
                           dense_strides(edge.source, axes), axes);
}

// Looks at the edges between the groups from the smaller one. Edges inside a group stay aligned.
bool Grouping::has_misaligned_edge(GroupId a, GroupId b, const JointSpace& joint) const {
  const bool a_is_smaller = units_[a].members.size() < units_[b].members.size();
  const GroupId small = a_is_smaller ? a : b;
  const GroupId large = a_is_smaller ? b : a;
  const auto is_misaligned = [&](NodeId reader, GroupId source) {
    for (const Operand& operand : graph_[reader].operands)
      if (group_of(operand.node) == source &&
          !is_aligned(operand, edge_axes(reader, operand.node, a, joint), joint.axes))
        return true;
    return false;
  };
  for (NodeId id : units_[small].members) {
    if (is_misaligned(id, large)) return true;
    for (NodeId user : users_[id])
      if (group_of(user) == large && is_misaligned(user, small)) return true;
  }
  return false;
}

std::string Grouping::first_misaligned_edge(GroupId a, GroupId b, const JointSpace& joint) const {
  for (GroupId group : {a, b})
    for (NodeId reader : members(group))
      for (const Operand& operand : graph_[reader].operands) {
        const GroupId source = group_of(operand.node);
        if (source == group || (source != a && source != b)) continue;
        const Edge edge = edge_axes(reader, operand.node, a, joint);
        if (is_aligned(operand, edge, joint.axes)) continue;
        const bool lacks_an_axis =
            std::any_of(edge.source.begin(), edge.source.end(), [&](int axis) {
              return joint.axes[static_cast<std::size_t>(axis)].reduced &&
                     std::find(edge.reader.begin(), edge.reader.end(), axis) == edge.reader.end();
            });
        if (lacks_an_axis)
          return fmt::format("%{} needs parts of %{} that other rows compute", reader,
                             operand.node);
        return fmt::format("%{} reads %{} through another view ({})", reader, operand.node,
                           to_string(operand.view));
      }
  return {};
}

std::string Grouping::too_large(GroupId a, GroupId b) const {
  const Group& first = units_[a];
  const Group& second = units_[b];
  if (first.members.size() + second.members.size() > static_cast<std::size_t>(options_.most_nodes))
    return fmt::format("one kernel would have more than {} operations", options_.most_nodes);
  if (first.work + second.work > options_.most_work)
    return fmt::format("one kernel would have more than {} simple instructions per element",
                       options_.most_work);
  for (const auto& [round, count] : first.reductions)
    if (const auto other = second.reductions.find(round);
        other != second.reductions.end() && count + other->second > options_.most_reductions)
      return fmt::format("one kernel would have more than {} reductions in one pass",
                         options_.most_reductions);
  constexpr std::size_t kMostOfANode = 4;  // three operands and itself
  const auto most = static_cast<std::size_t>(options_.most_accesses);
  if ((first.members.size() + second.members.size()) * kMostOfANode <= most) return {};
  if (accesses(a, b) <= most) return {};
  return fmt::format("one kernel would have more than {} reads and writes", options_.most_accesses);
}

// Each way in which a node from outside is read, and each node that others read, is an access.
std::size_t Grouping::accesses(GroupId a, GroupId b) const {
  const auto is_inside = [&](NodeId id) { return group_of(id) == a || group_of(id) == b; };
  OutsideReads reads;
  std::size_t count = 0;
  for (GroupId group : {a, b})
    for (NodeId id : units_[group].members) {
      add_outside_reads(graph_, id, is_inside, reads);
      count += is_output_[id] || !std::all_of(users_[id].begin(), users_[id].end(), is_inside);
    }
  for (const auto& [id, views] : reads) count += views.size();
  return count;
}

// Everything that one unit reaches, or that reaches it, strictly between two places of the order.
template <typename VisitNext>
std::vector<Grouping::UnitId> Grouping::reached(UnitId from, int after, int before,
                                                const VisitNext& visit_next) const {
  std::vector<UnitId> found;
  std::unordered_set<UnitId> seen{from};
  std::vector<UnitId> waiting{from};
  while (!waiting.empty()) {
    const UnitId unit = waiting.back();
    waiting.pop_back();
    for (NodeId id : units_[unit].members)
      visit_next(id, [&](NodeId next) {
        const UnitId other = unit_of_[next];
        if (other == kNoGroup || order_[other] <= after || order_[other] >= before) return;
        if (!seen.insert(other).second) return;
        found.push_back(other);
        waiting.push_back(other);
      });
  }
  return found;
}

std::vector<Grouping::UnitId> Grouping::between(UnitId from, UnitId to, bool forward) const {
  const int after = std::min(order_[from], order_[to]);
  const int before = std::max(order_[from], order_[to]);
  if (forward)
    return reached(from, after, before, [&](NodeId id, const auto& visit) {
      for (NodeId user : users_[id]) visit(user);
    });
  return reached(from, after, before, [&](NodeId id, const auto& visit) {
    for (const Operand& operand : graph_[id].operands) visit(operand.node);
  });
}

// Whether a path leads from one group to the other through a third. It would lie between them in
// the order of units.
bool Grouping::has_path_around(GroupId a, GroupId b) const {
  const auto [first, last] =
      std::minmax(a, b, [&](GroupId x, GroupId y) { return order_[x] < order_[y]; });
  for (UnitId unit : between(first, last, true))
    for (NodeId id : units_[unit].members)
      for (NodeId user : users_[id])
        if (unit_of_[user] == last) return true;
  return false;
}

// Keeps the order of units topological when two become one (Pearce and Kelly): what has to run
// before the later one, then the merged one, then what has to run after the earlier one.
void Grouping::reorder(GroupId a, GroupId b, GroupId merged) {
  const auto [first, last] =
      std::minmax(a, b, [&](GroupId x, GroupId y) { return order_[x] < order_[y]; });
  const auto earlier = [&](UnitId x, UnitId y) { return order_[x] < order_[y]; };
  std::vector<UnitId> before = between(last, first, false);
  std::vector<UnitId> after = between(first, last, true);
  std::sort(before.begin(), before.end(), earlier);
  std::sort(after.begin(), after.end(), earlier);
  std::vector<UnitId> units = before;
  units.push_back(merged);
  units.insert(units.end(), after.begin(), after.end());
  std::vector<int> places{order_[first]};
  for (const std::vector<UnitId>* list : {&before, &after})
    for (UnitId unit : *list) places.push_back(order_[unit]);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < units.size(); ++i) order_[units[i]] = places[i];
}

}  // namespace sinter
