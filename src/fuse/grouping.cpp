// Merging. The smaller group is merged into the larger, which keeps its id, so grouping takes
// little more than linear time.
#include "src/fuse/grouping.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

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
  // Length of the longest chain of reductions up to a node. Reductions of the same round can share
  // a pass.
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
    units_.back().most_accesses = node.operands.size() + 1;
    units_.back().has_contraction = node.op == Op::contract;
    if (options.runs_alone)
      units_.back().alone = options.runs_alone(graph, node, dense_view(node.shape));
  }
  seen_by_.resize(units_.size(), 0);
  for (PlaceId place = 0; place < units_.end_id(); ++place) {
    next_place_.push_back(place + 1);
    previous_place_.push_back(place - 1);
  }
}

std::vector<NodeId> Grouping::members(GroupId group) const {
  std::vector<NodeId> sorted = units_[group].members;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// First without splitting axes: a merge that splits axes must not block one that does not.
void Grouping::merge_all() {
  for (const SplitAxes split : {SplitAxes::no, SplitAxes::yes}) {
    split_axes_ = split;
    merge_along_edges();
    merge_readers_of_one_input();
  }
  merge_parts_of_concats();
  if (!options_.batch_invariant) merge_small_kernels();  // what is small depends on the batch
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
    if (is_scalar(graph_[source].op) || graph_[source].op == Op::iota) continue;
    std::vector<NodeId> readers;  // one per group
    for (NodeId user : users_[source]) {
      const auto shares_group = [&](NodeId id) { return group_of(id) == group_of(user); };
      if (computes(graph_[user]) && std::none_of(readers.begin(), readers.end(), shares_group))
        readers.push_back(user);
    }
    for (std::size_t i = 0; i < readers.size(); ++i)
      for (std::size_t j = i + 1; j < readers.size(); ++j)
        try_merge(group_of(readers[i]), group_of(readers[j]));
  }
}

// Kernels that take no longer than their launch share one, even if they have no data in common.
void Grouping::merge_small_kernels() {
  constexpr std::int64_t kSmall = 1 << 14;  // elements
  using AxisKey = std::tuple<std::int64_t, bool, bool>;
  std::map<std::vector<AxisKey>, GroupId> latest;  // group over the same axes
  for (GroupId group = 0; group < units_.end_id(); ++group) {
    if (units_[group].members.empty() || !computes(graph_[units_[group].members.front()]) ||
        numel(axes(group)) > kSmall)
      continue;
    std::vector<AxisKey> key;
    for (const GroupAxis& axis : axes(group)) key.push_back({axis.size, axis.reduced, axis.whole});
    const auto [it, is_first] = latest.try_emplace(std::move(key), group);
    if (is_first) continue;
    const GroupId before = it->second;
    it->second = group;
    if (try_merge(before, group) && units_[group].members.empty()) it->second = before;
  }
}

// One kernel writes several parts of the same shape, also if they read nothing in common.
void Grouping::merge_parts_of_concats() {
  constexpr std::size_t kMostTried = 4;
  for (const Node& concat : graph_.nodes) {
    if (concat.op != Op::concat) continue;
    std::vector<GroupId> writers;
    for (const Operand& part : concat.operands) {
      const GroupId group = group_of(part.node);
      if (group == kNoGroup || std::count(writers.begin(), writers.end(), group)) continue;
      const auto joins = [&](GroupId other) {
        return may_write_one_concat(other, group) && try_merge(other, group);
      };
      const auto joined = std::find_if(writers.begin(), writers.end(), joins);
      if (joined != writers.end())
        *joined = group_of(part.node);  // the larger group's id remains
      else if (writers.size() < kMostTried)
        writers.push_back(group);
    }
  }
}

// Reductions of different rows only share their launch, and would compete for registers; so would
// many streams for the caches.
bool Grouping::may_write_one_concat(GroupId a, GroupId b) const {
  constexpr std::size_t kMostStreams = 16;
  return units_[a].reductions.empty() && units_[b].reductions.empty() &&
         accesses(a, b) <= kMostStreams;
}

bool Grouping::try_merge(GroupId a, GroupId b) {
  if (a == b) return false;
  SpaceVerdict verdict = judge(a, b, Reason::unasked);
  if (!verdict.space) return false;
  const std::size_t accesses_of_both = most_accesses(a, b);
  map_members(a, verdict.space->from_a);
  map_members(b, verdict.space->from_b);
  const bool a_is_larger = units_[a].members.size() > units_[b].members.size();
  Group& target = units_[a_is_larger ? a : b];
  Group& merged = units_[a_is_larger ? b : a];
  reorder(a, b, a_is_larger ? a : b);
  for (NodeId id : merged.members) unit_of_[id] = a_is_larger ? a : b;
  target.members.insert(target.members.end(), merged.members.begin(), merged.members.end());
  target.axes = std::move(verdict.space->axes);
  target.work += merged.work;
  target.most_accesses = accesses_of_both;
  target.has_contraction |= merged.has_contraction;
  for (const auto& [round, count] : merged.reductions) target.reductions[round] += count;
  merged.members.clear();
  return true;
}

void Grouping::map_members(GroupId group, const ByAxis<AxisList>& to_joint) {
  if (is_identity(to_joint)) return;
  for (NodeId id : units_[group].members) {
    NodeAxes& axes = node_axes_[id];
    axes = {mapped(axes.computed_over, to_joint), mapped(axes.result, to_joint)};
  }
}

SpaceVerdict Grouping::judge(GroupId a, GroupId b, Reason reason) const {
  for (const GroupId group : {a, b})
    if (!units_[group].alone.empty()) return {{}, std::string(units_[group].alone)};
  if (units_[a].has_contraction && units_[b].has_contraction)
    return {{}, "each matrix product has a kernel of its own"};
  SpaceVerdict verdict = join_spaces(axes(a), axes(b), split_axes_, reason);
  if (!verdict.space) return verdict;
  if (options_.rows_on_chip &&
      long_reduced_axes(verdict.space->axes) >
          std::max(long_reduced_axes(axes(a)), long_reduced_axes(axes(b))) &&
      !keeps_rows_whole(a, b, *verdict.space))
    return {{}, "rows of several axes would not stay on chip"};
  if (has_misaligned_edge(a, b, *verdict.space))
    return {{}, reason == Reason::wanted ? first_misaligned_edge(a, b, *verdict.space) : ""};
  if (std::string excess = too_large(a, b); !excess.empty()) return {{}, std::move(excess)};
  if (has_path_around(a, b)) return {{}, "another kernel has to run between them"};
  return verdict;
}

// Whether the reduced axes of a joint space can be walked as one: every tensor from outside steps
// evenly from one to the next, or its elements may as well be found by a division.
bool Grouping::keeps_rows_whole(GroupId a, GroupId b, const JointSpace& joint) const {
  AxisList reduced;
  for (AxisId i = 0; i < joint.axes.end_id(); ++i)
    if (joint.axes[i].reduced && joint.axes[i].size > 1) reduced.push_back(i);
  const auto is_even = [&](const ByAxis<std::int64_t>& strides) {
    for (std::size_t i = 1; i < reduced.size(); ++i)
      if (strides[reduced[i - 1]] != strides[reduced[i]] * joint.axes[reduced[i]].size)
        return false;
    return true;
  };
  for (GroupId group : {a, b})
    for (NodeId id : units_[group].members) {
      const ByAxis<AxisList>& to_joint = group == a ? joint.from_a : joint.from_b;
      if (!is_even(dense_strides(mapped(node_axes_[id].result, to_joint), joint.axes)))
        return false;
      for (const Operand& operand : graph_[id].operands) {
        const GroupId source = group_of(operand.node);
        if (is_scalar(graph_[operand.node].op) || source == a || source == b) continue;
        const AxisList list = mapped(node_axes_[id].computed_over, to_joint);
        const bool is_cheap = is_cheap_in_any_order(distinct_elements(operand.view), joint.axes);
        if (!is_cheap && !is_even(strides_along(operand.view, list, joint.axes))) return false;
      }
    }
  return true;
}

std::string Grouping::refusal(GroupId a, GroupId b) const {
  return judge(a, b, Reason::wanted).refusal;
}

Grouping::Edge Grouping::edge_axes(NodeId reader, NodeId source, GroupId a,
                                   const JointSpace& joint) const {
  const auto to_joint = [&](NodeId id) -> const ByAxis<AxisList>& {
    return group_of(id) == a ? joint.from_a : joint.from_b;
  };
  return {mapped(node_axes_[reader].computed_over, to_joint(reader)),
          mapped(node_axes_[source].result, to_joint(source))};
}

// Whether the operand reads its source elementwise, at the same index.
bool Grouping::is_aligned(const Operand& operand, const Edge& edge, const GroupAxes& axes) const {
  return operand.view.offset == 0 && !operand.view.is_padded() &&
         are_same_elements(strides_along(operand.view, edge.reader, axes),
                           dense_strides(edge.source, axes), axes);
}

// The most common aligned edge, found without strides: the reader sees all of the other node, in
// order, and both lie in the space alike.
bool Grouping::reads_in_order(NodeId reader, const Operand& operand,
                              const JointSpace& joint) const {
  return joint.from_a.empty() && joint.from_b.empty() && is_whole(graph_, operand) &&
         node_axes_[reader].computed_over == node_axes_[operand.node].result;
}

// Finds the edges between the groups by scanning the smaller one. Edges inside a group stay
// aligned.
bool Grouping::has_misaligned_edge(GroupId a, GroupId b, const JointSpace& joint) const {
  const bool a_is_smaller = units_[a].members.size() < units_[b].members.size();
  const GroupId small = a_is_smaller ? a : b;
  const GroupId large = a_is_smaller ? b : a;
  const auto is_misaligned = [&](NodeId reader, GroupId source) {
    for (const Operand& operand : graph_[reader].operands)
      if (group_of(operand.node) == source && !reads_in_order(reader, operand, joint) &&
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
            std::any_of(edge.source.begin(), edge.source.end(), [&](AxisId axis) {
              return joint.axes[axis].reduced &&
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
  if (most_accesses(a, b) <= static_cast<std::size_t>(options_.most_accesses)) return {};
  return fmt::format("one kernel would have more than {} reads and writes", options_.most_accesses);
}

// Counts reads and writes of the merged kernel: each distinct view of an outside node, and each
// node that is read outside.
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

// An upper bound of accesses(), which is slow. Groups that read each other have fewer together, so
// they are counted where the sum is too large.
std::size_t Grouping::most_accesses(GroupId a, GroupId b) const {
  const std::size_t sum = units_[a].most_accesses + units_[b].most_accesses;
  return sum <= static_cast<std::size_t>(options_.most_accesses) ? sum : accesses(a, b);
}

// All units reachable from `from` by `visit_next` whose order is strictly between the two bounds.
template <typename VisitNext>
std::vector<Grouping::UnitId> Grouping::reached(UnitId from, int after, int before,
                                                const VisitNext& visit_next) const {
  std::vector<UnitId> found;
  std::vector<UnitId> waiting{from};
  const int search = ++searches_;
  seen_by_[from] = search;
  while (!waiting.empty()) {
    const UnitId unit = waiting.back();
    waiting.pop_back();
    for (NodeId id : units_[unit].members)
      visit_next(id, [&](NodeId next) {
        const UnitId other = unit_of_[next];
        if (other == kNoGroup || order_[other] <= after || order_[other] >= before) return;
        if (seen_by_[other] == search) return;
        seen_by_[other] = search;
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

Grouping::Ordered Grouping::ordered(UnitId a, UnitId b) const {
  return order_[a] < order_[b] ? Ordered{a, b} : Ordered{b, a};
}

// No unit lies between them in the order.
bool Grouping::are_neighbours(const Ordered& units) const {
  return next_place_[order_[units.first]] == order_[units.last];
}

void Grouping::vacate(PlaceId place) {
  const PlaceId next = next_place_[place];
  const PlaceId previous = previous_place_[place];
  if (previous >= 0) next_place_[previous] = next;
  if (previous_place_.contains(next)) previous_place_[next] = previous;
}

// Whether a path from one group to the other goes through a third. Such a path lies between them
// in topological order. Searched from the group with fewer nodes.
bool Grouping::has_path_around(GroupId a, GroupId b) const {
  const Ordered units = ordered(a, b);
  if (are_neighbours(units)) return false;
  const UnitId first = units.first;
  const UnitId last = units.last;
  const bool forward = units_[first].members.size() <= units_[last].members.size();
  const auto is_last = [&](NodeId user) { return unit_of_[user] == last; };
  const auto is_first = [&](const Operand& operand) { return unit_of_[operand.node] == first; };
  for (UnitId unit : forward ? between(first, last, true) : between(last, first, false))
    for (NodeId id : units_[unit].members) {
      const std::vector<Operand>& read = graph_[id].operands;
      if (forward ? std::any_of(users_[id].begin(), users_[id].end(), is_last)
                  : std::any_of(read.begin(), read.end(), is_first))
        return true;
    }
  return false;
}

// Updates the topological order for a merge (Pearce and Kelly): first the predecessors of the later
// unit, then the merged unit, then the successors of the earlier one.
void Grouping::reorder(GroupId a, GroupId b, GroupId merged) {
  const Ordered pair = ordered(a, b);
  const auto [first, last] = pair;
  const auto earlier = [&](UnitId x, UnitId y) { return order_[x] < order_[y]; };
  std::vector<UnitId> before;
  std::vector<UnitId> after;
  if (!are_neighbours(pair)) {
    before = between(last, first, false);
    after = between(first, last, true);
  }
  std::sort(before.begin(), before.end(), earlier);
  std::sort(after.begin(), after.end(), earlier);
  vacate(order_[last]);
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
