// The planner: every computing node starts as a group of its own; groups joined by an edge, then
// groups that read the same data, merge while they can walk one index space and no cycle appears.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "src/base/check.h"
#include "src/fuse/plan.h"
#include "src/fuse/prepare.h"
#include "src/graph/power.h"

namespace sinter {

View Plan::buffer_view(const Operand& operand) const {
  const auto view = compose(operand.view, placements[static_cast<std::size_t>(operand.node)].view);
  SINTER_ASSERT(view.has_value(), "%{} is placed where its reader's view cannot reach",
                operand.node);
  return *view;
}

FusionOptions fusion_options(bool fuse, int parallelism, const Machine& machine) {
  FusionOptions options;
  options.fuse = fuse;
  options.parallelism = parallelism;
  if (machine.kind == MachineKind::gpu) {
    // A row is taken by the threads of one block, or of a cluster of them.
    options.whole_row = machine.largest_cluster > 1 ? 1 << 17 : 1 << 15;
    options.smallest_column_part = 64;
    // An access is an address, a stride for each axis and little more, of 4095 words in all.
    options.most_accesses = 128;
    options.repeated_cost = 8 * kHeavyCost;
  }
  return options;
}

namespace {

constexpr std::int64_t kMuchSmaller = 32;

bool computes(const Node& node) { return is_pointwise(node.op) || node.op == Op::reduce; }

Domain domain_of(const Node& node) {
  if (node.op == Op::reduce) return {node.operands[0].view.shape, node.axes};
  return {node.shape, 0};
}

std::string axes_text(std::uint32_t axes) {
  std::string text;
  for (int i = 0; i < kMaxRank; ++i)
    if (axes >> i & 1) text += fmt::format("{}{}", text.empty() ? "" : ", ", i);
  return text;
}

// A yes carries the joint domain, a no its reason.
struct Verdict {
  std::optional<Domain> domain;
  std::string reason;
};

Verdict join_domains(const Domain& a, const Domain& b) {
  if (a == b) return {a, {}};
  if (a.reduced && b.reduced) {
    if (a.shape == b.shape)
      return {{},
              fmt::format("one reduces over axes {}, the other over axes {}", axes_text(a.reduced),
                          axes_text(b.reduced))};
    return {{},
            fmt::format("they reduce over different shapes: {} and {}", to_string(a.shape),
                        to_string(b.shape))};
  }
  const Domain& rows = a.reduced ? a : b;
  const Domain& other = a.reduced ? b : a;
  if (rows.reduced && (other.shape == rows.shape || other.shape == rows.kept())) return {rows, {}};
  return {
      {},
      fmt::format("they walk different shapes: {} and {}", to_string(a.shape), to_string(b.shape))};
}

class Planner {
 public:
  Planner(const Graph& graph, const FusionOptions& options) : options_(options) {
    plan_.graph = graph;
    const auto count = static_cast<std::size_t>(graph.size());
    plan_.group_of.assign(count, -1);
    users_.resize(count);
    is_output_.resize(count);
    for (const Operand& output : graph.outputs)
      is_output_[static_cast<std::size_t>(output.node)] = 1;
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (computes(graph[id])) {
        plan_.group_of[static_cast<std::size_t>(id)] = static_cast<int>(members_.size());
        members_.push_back({id});
        domains_.push_back(domain_of(graph[id]));
      }
      for (const Operand& operand : graph[id].operands)
        users_[static_cast<std::size_t>(operand.node)].push_back(id);
    }
  }

  Plan run() {
    if (options_.fuse) {
      merge_along_edges();
      merge_readers_of_one_input();
    }
    emit_groups();
    place_values();
    if (options_.fuse) widen_small_values();
    note_unfused_edges();
    for (FusionGroup& group : plan_.groups) count_costs(group);
    return std::move(plan_);
  }

 private:
  const Graph& graph() const { return plan_.graph; }
  int group_of(NodeId id) const { return plan_.group_of[static_cast<std::size_t>(id)]; }

  // Runs to a fixed point: a merge can give a group the row structure that makes another one fit.
  void merge_along_edges() {
    for (bool changed = true; changed;) {
      changed = false;
      for (NodeId id = 0; id < graph().size(); ++id) {
        if (!computes(graph()[id])) continue;
        for (const Operand& operand : graph()[id].operands)
          if (computes(graph()[operand.node])) changed |= try_merge(operand.node, id);
      }
    }
  }

  void merge_readers_of_one_input() {
    for (NodeId source = 0; source < graph().size(); ++source) {
      if (graph()[source].op == Op::constant) continue;
      const auto& users = users_[static_cast<std::size_t>(source)];
      for (std::size_t i = 0; i < users.size(); ++i)
        for (std::size_t j = i + 1; j < users.size(); ++j)
          if (computes(graph()[users[i]]) && computes(graph()[users[j]]))
            try_merge(users[i], users[j]);
    }
  }

  bool try_merge(NodeId a, NodeId b) {
    const int from = group_of(a);
    const int into = group_of(b);
    if (from == into) return false;
    Verdict verdict = judge(from, into);
    if (!verdict.domain) return false;
    auto& target = members_[static_cast<std::size_t>(into)];
    for (NodeId id : members_[static_cast<std::size_t>(from)]) {
      plan_.group_of[static_cast<std::size_t>(id)] = into;
      target.push_back(id);
    }
    members_[static_cast<std::size_t>(from)].clear();
    std::sort(target.begin(), target.end());
    domains_[static_cast<std::size_t>(into)] = *verdict.domain;
    return true;
  }

  Verdict judge(int a, int b) const {
    Verdict verdict =
        join_domains(domains_[static_cast<std::size_t>(a)], domains_[static_cast<std::size_t>(b)]);
    if (!verdict.domain) return verdict;
    for (int reader : {a, b})
      for (NodeId id : members_[static_cast<std::size_t>(reader)])
        for (const Operand& operand : graph()[id].operands) {
          const int source = group_of(operand.node);
          if (source < 0 || (source != a && source != b)) continue;
          if (auto reason = misaligned(operand, id, *verdict.domain); !reason.empty())
            return {{}, reason};
        }
    if (is_too_wide(a, b))
      return {{},
              fmt::format("one kernel would have more than {} reads and writes",
                          options_.most_accesses)};
    if (reaches_around(a, b) || reaches_around(b, a))
      return {{}, "another kernel has to run between them"};
    return verdict;
  }

  // Each way in which a node from outside is read, and each node that others read, is an access.
  bool is_too_wide(int a, int b) const {
    constexpr int kMostOfANode = 4;  // three operands and itself
    const auto most = static_cast<std::size_t>(options_.most_accesses);
    const auto& first = members_[static_cast<std::size_t>(a)];
    const auto& second = members_[static_cast<std::size_t>(b)];
    if ((first.size() + second.size()) * kMostOfANode <= most) return false;
    const auto is_inside = [&](NodeId id) { return group_of(id) == a || group_of(id) == b; };
    OutsideReads reads;
    std::size_t accesses = 0;
    for (const std::vector<NodeId>* nodes : {&first, &second})
      for (NodeId id : *nodes) {
        add_outside_reads(id, is_inside, reads);
        const auto& users = users_[static_cast<std::size_t>(id)];
        accesses += is_output_[static_cast<std::size_t>(id)] ||
                    !std::all_of(users.begin(), users.end(), is_inside);
      }
    for (const auto& [id, views] : reads) accesses += views.size();
    return accesses > most;
  }

  // Why a node of a group cannot read another one in passing; empty if it can.
  std::string misaligned(const Operand& operand, NodeId reader, const Domain& domain) const {
    const Node& source = graph()[operand.node];
    const Node& user = graph()[reader];
    const bool source_is_row =
        source.op == Op::reduce || (domain.reduced != 0 && source.shape == domain.kept());
    const bool reads_as_row =
        user.op != Op::reduce && domain.reduced != 0 && user.shape == domain.kept();
    if (!source_is_row && reads_as_row)
      return fmt::format("%{} needs parts of %{} that other rows compute", reader, operand.node);
    const View expected = source_is_row && !reads_as_row
                              ? row_broadcast(domain.shape, domain.reduced)
                              : dense_view(source.shape);
    if (same_access(operand.view, expected)) return {};
    return fmt::format("%{} reads %{} through another view ({})", reader, operand.node,
                       to_string(operand.view));
  }

  // Is there a path from group a to group b that passes through a third group?
  bool reaches_around(int a, int b) const {
    std::vector<NodeId> stack;
    std::vector<char> seen(graph().nodes.size(), 0);
    auto push_users = [&](NodeId id, bool first) {
      for (NodeId user : users_[static_cast<std::size_t>(id)]) {
        if (seen[static_cast<std::size_t>(user)]) continue;
        if (first && (group_of(user) == a || group_of(user) == b)) continue;
        seen[static_cast<std::size_t>(user)] = 1;
        stack.push_back(user);
      }
    };
    for (NodeId id : members_[static_cast<std::size_t>(a)]) push_users(id, true);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (group_of(id) == b) return true;
      if (group_of(id) >= 0 && group_of(id) != a)
        for (NodeId peer : members_[static_cast<std::size_t>(group_of(id))])
          push_users(peer, false);
      push_users(id, false);
    }
    return false;
  }

  // Orders the groups so that each comes after those it reads from.
  void emit_groups() {
    const std::size_t count = members_.size();
    std::vector<char> emitted(graph().nodes.size(), 0);
    std::vector<int> final_index(count, -1);
    for (NodeId id = 0; id < graph().size(); ++id)
      if (!computes(graph()[id]) && graph()[id].op != Op::concat)
        emitted[static_cast<std::size_t>(id)] = 1;
    for (bool progress = true; progress;) {
      progress = false;
      for (NodeId id = 0; id < graph().size(); ++id) {
        if (emitted[static_cast<std::size_t>(id)]) continue;
        const int g = group_of(id);
        const std::vector<NodeId> alone{id};
        const auto& nodes = g < 0 ? alone : members_[static_cast<std::size_t>(g)];
        const bool ready = std::all_of(nodes.begin(), nodes.end(), [&](NodeId member) {
          const auto& operands = graph()[member].operands;
          return std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
            return emitted[static_cast<std::size_t>(operand.node)] ||
                   (g >= 0 && group_of(operand.node) == g);
          });
        });
        if (!ready) continue;
        progress = true;
        for (NodeId member : nodes) emitted[static_cast<std::size_t>(member)] = 1;
        if (g < 0) continue;
        final_index[static_cast<std::size_t>(g)] = static_cast<int>(plan_.groups.size());
        FusionGroup group;
        group.domain = domains_[static_cast<std::size_t>(g)];
        group.nodes = nodes;
        plan_.groups.push_back(std::move(group));
      }
    }
    for (int& g : plan_.group_of)
      if (g >= 0) g = final_index[static_cast<std::size_t>(g)];
  }

  void place_values() {
    std::vector<char> leaves(graph().nodes.size(), 0);
    for (const Operand& output : graph().outputs) leaves[static_cast<std::size_t>(output.node)] = 1;
    for (NodeId id = 0; id < graph().size(); ++id)
      for (const Operand& operand : graph()[id].operands)
        if (group_of(operand.node) != group_of(id) || group_of(id) < 0)
          leaves[static_cast<std::size_t>(operand.node)] = 1;
    plan_.placements.resize(graph().nodes.size());
    for (NodeId id = 0; id < graph().size(); ++id) {
      const Node& node = graph()[id];
      auto& placement = plan_.placements[static_cast<std::size_t>(id)];
      if (node.op == Op::input || node.op == Op::concat ||
          (computes(node) && leaves[static_cast<std::size_t>(id)]))
        placement = {id, dense_view(node.shape)};
      if (computes(node) && leaves[static_cast<std::size_t>(id)])
        plan_.groups[static_cast<std::size_t>(group_of(id))].outputs.push_back(id);
    }
    // From the last concat back, so that a concat inside a concat finds its own place first.
    for (NodeId id = graph().size() - 1; id >= 0; --id) {
      const Node& node = graph()[id];
      if (node.op != Op::concat) continue;
      std::int64_t start = 0;
      const auto axis = static_cast<int>(node.axes);
      for (const Operand& operand : node.operands) {
        const std::int64_t size = operand.view.shape[axis];
        const Placement whole = plan_.placements[static_cast<std::size_t>(id)];
        plan_.placements[static_cast<std::size_t>(operand.node)] = {
            whole.buffer, slice(whole.view, axis, start, size, 1)};
        start += size;
      }
    }
  }

  // What goes from kernel to kernel is no tensor of the program: 16-bit floats stay in f32, as they
  // would within a kernel, where that costs next to nothing.
  void widen_small_values() {
    std::int64_t largest = 0;
    for (const FusionGroup& group : plan_.groups)
      largest = std::max(largest, group.domain.shape.numel());
    std::set<NodeId> returned;
    for (const Operand& output : graph().outputs) returned.insert(output.node);
    for (NodeId id = 0; id < graph().size(); ++id) {
      Node& node = plan_.graph[id];
      const bool is_passed_on = computes(node) && !returned.count(id) &&
                                plan_.placements[static_cast<std::size_t>(id)].buffer == id;
      if (is_passed_on && node.op != Op::cast && node.shape.numel() * kMuchSmaller <= largest)
        node.dtype = compute_dtype(node.dtype);
    }
  }

  void note_unfused_edges() {
    std::set<std::pair<NodeId, NodeId>> noted;
    for (NodeId id = 0; id < graph().size(); ++id)
      for (const Operand& operand : graph()[id].operands) {
        if (noted.contains({operand.node, id})) continue;
        const auto edge = graph()[id].op == Op::concat             ? edge_into_concat(operand, id)
                          : graph()[operand.node].op == Op::concat ? edge_from_concat(operand, id)
                                                                   : edge_between(operand, id);
        if (!edge) continue;
        noted.insert({operand.node, id});
        plan_.unfused.push_back(*edge);
      }
  }

  // What writing the operand's node and reading it back costs.
  std::int64_t bytes_through_memory(const Operand& operand) const {
    const Node& node = graph()[operand.node];
    return static_cast<std::int64_t>(size_of(node.dtype)) *
           (node.shape.numel() + distinct_elements(operand.view));
  }

  std::optional<UnfusedEdge> edge_between(const Operand& operand, NodeId reader) {
    const int from = group_of(operand.node);
    const int to = group_of(reader);
    if (from < 0 || to < 0 || from == to) return std::nullopt;
    return UnfusedEdge{
        operand.node, reader, from, to, refusal(from, to), bytes_through_memory(operand)};
  }

  // The first kernel that writes into a node's buffer.
  int first_writer(NodeId id) const {
    if (graph()[id].op != Op::concat) return group_of(id);
    int first = -1;
    for (const Operand& part : graph()[id].operands)
      if (first < 0) first = first_writer(part.node);
    return first;
  }

  // A part that another kernel writes than the concat's first part.
  std::optional<UnfusedEdge> edge_into_concat(const Operand& part, NodeId concat) {
    const int from = first_writer(part.node);
    const int home = first_writer(concat);
    if (from < 0 || from == home) return std::nullopt;
    return UnfusedEdge{part.node, concat, from, home, refusal(home, from), 0};
  }

  // Parts are computed in their places, so nobody computes all of them for a reader to use.
  std::optional<UnfusedEdge> edge_from_concat(const Operand& operand, NodeId reader) const {
    if (group_of(reader) < 0) return std::nullopt;
    return UnfusedEdge{operand.node,
                       reader,
                       first_writer(operand.node),
                       group_of(reader),
                       "a concat's parts are stored before it is read",
                       bytes_through_memory(operand)};
  }

  // Why two final groups did not merge. members_ and domains_ are rebuilt in the final numbering.
  std::string refusal(int from, int to) {
    if (!options_.fuse) return "fusion is off";
    if (!renumbered_) {
      members_.clear();
      domains_.clear();
      for (const FusionGroup& group : plan_.groups) {
        members_.push_back(group.nodes);
        domains_.push_back(group.domain);
      }
      renumbered_ = true;
    }
    const std::string reason = judge(from, to).reason;
    return reason.empty() ? "they read nothing in common" : reason;
  }

  // Elements of one buffer that several views touch: what each does, but no more than lie between
  // the first and the last of them.
  static std::int64_t covered_elements(const std::vector<View>& views) {
    std::int64_t elements = 0;
    std::optional<Extent> all;
    for (const View& view : views) {
      if (view.shape.numel() == 0) continue;
      elements += distinct_elements(view);
      const Extent range = extent(view);
      all =
          all ? Extent{std::min(all->first, range.first), std::max(all->last, range.last)} : range;
    }
    return all ? std::min(elements, all->last - all->first + 1) : 0;
  }

  using OutsideReads = std::map<NodeId, std::vector<View>>;  // how nodes from outside are looked at

  template <typename IsInside>
  void add_outside_reads(NodeId id, const IsInside& is_inside, OutsideReads& reads) const {
    for (const Operand& operand : graph()[id].operands) {
      const Node& source = graph()[operand.node];
      if (source.op == Op::constant || source.op == Op::iota) continue;
      if (computes(source) && is_inside(operand.node)) continue;
      auto& views = reads[operand.node];
      if (std::find(views.begin(), views.end(), operand.view) == views.end())
        views.push_back(operand.view);
    }
  }

  void count_costs(FusionGroup& group) const {
    const int g = group_of(group.nodes.front());
    OutsideReads read;
    for (NodeId id : group.nodes) {
      const Node& node = graph()[id];
      const std::int64_t elements =
          node.op == Op::reduce ? node.operands[0].view.shape.numel() : node.shape.numel();
      group.flops += elements * std::max(1, cost_of(graph(), node));
      add_outside_reads(
          id, [&](NodeId source) { return group_of(source) == g; }, read);
    }
    for (const auto& [id, views] : read)
      group.bytes_read +=
          covered_elements(views) * static_cast<std::int64_t>(size_of(graph()[id].dtype));
    for (NodeId id : group.outputs)
      group.bytes_written +=
          graph()[id].shape.numel() * static_cast<std::int64_t>(size_of(graph()[id].dtype));
  }

  FusionOptions options_;
  Plan plan_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<char> is_output_;               // by node
  std::vector<std::vector<NodeId>> members_;  // by group
  std::vector<Domain> domains_;               // by group
  bool renumbered_ = false;
};

}  // namespace

Plan make_plan(const Graph& graph, const FusionOptions& options) {
  Graph prepared = materialize_leaves(split_reductions(graph, options));
#ifndef NDEBUG
  verify(prepared);
#endif
  Plan plan = Planner(prepared, options).run();
#ifndef NDEBUG
  verify(plan);
#endif
  return plan;
}

void verify(const Plan& plan) {
  std::vector<char> ready(plan.graph.nodes.size(), 0);
  // Leaves are there; a concat is once its operands are.
  auto settle = [&] {
    for (NodeId id = 0; id < plan.graph.size(); ++id) {
      const auto& operands = plan.graph[id].operands;
      if (plan.group_of[static_cast<std::size_t>(id)] < 0)
        ready[static_cast<std::size_t>(id)] =
            std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
              return ready[static_cast<std::size_t>(operand.node)] != 0;
            });
    }
  };
  for (const FusionGroup& group : plan.groups) {
    settle();
    SINTER_ASSERT(!group.nodes.empty() && !group.outputs.empty(), "a group computes nothing");
    for (NodeId id : group.nodes) {
      for (const Operand& operand : plan.graph[id].operands)
        SINTER_ASSERT(ready[static_cast<std::size_t>(operand.node)], "%{} before %{}", id,
                      operand.node);
      ready[static_cast<std::size_t>(id)] = 1;
    }
    for (NodeId id : group.outputs)
      SINTER_ASSERT(plan.placements[static_cast<std::size_t>(id)].buffer >= 0);
  }
}

std::string to_string(const Plan& plan) {
  std::string text;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const FusionGroup& group = plan.groups[g];
    text += fmt::format("group {} over {}", g, to_string(group.domain.shape));
    if (group.domain.reduced)
      text += fmt::format(" reducing axes {}", axes_text(group.domain.reduced));
    text += fmt::format(", {} bytes:", group.bytes());
    for (NodeId id : group.nodes) {
      const Node& node = plan.graph[id];
      text += fmt::format(" %{} {}", id, name_of(node));
    }
    text += "\n";
  }
  for (const UnfusedEdge& edge : plan.unfused)
    text += fmt::format("unfused %{} -> %{} (group {} -> {}), {} bytes: {}\n", edge.producer,
                        edge.consumer, edge.producer_group, edge.consumer_group, edge.bytes,
                        edge.reason);
  return text;
}

}  // namespace sinter
