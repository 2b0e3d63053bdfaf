// Finds unfused edges between groups, into concats and out of concats, and tensors that several
// groups read.
#include "src/fuse/unfused.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sinter {
namespace {

class UnfusedEdges {
 public:
  UnfusedEdges(const Plan& plan, const Grouping& grouping, bool fuse)
      : plan_(plan), graph_(plan.graph), grouping_(grouping), fuse_(fuse) {}

  std::vector<UnfusedEdge> edges() {
    std::vector<UnfusedEdge> edges;
    std::set<std::pair<NodeId, NodeId>> noted;
    for (NodeId id = 0; id < graph_.size(); ++id)
      for (const Operand& operand : graph_[id].operands) {
        if (noted.contains({operand.node, id})) continue;
        const auto edge = graph_[id].op == Op::concat             ? edge_into_concat(operand, id)
                          : graph_[operand.node].op == Op::concat ? edge_from_concat(operand, id)
                                                                  : edge_between(operand, id);
        if (!edge) continue;
        noted.insert({operand.node, id});
        edges.push_back(*edge);
      }
    return edges;
  }

  // Each group is compared with the first one that reads the same node. Pairs with an edge are
  // explained by that.
  std::vector<SharedRead> shared_reads() {
    constexpr std::size_t kMostReaders = 8;  // a weight may be read by thousands
    std::set<std::pair<GroupId, GroupId>> noted;
    for (const UnfusedEdge& edge : plan_.unfused)
      noted.insert(std::minmax(edge.producer_group, edge.consumer_group));
    std::vector<SharedRead> found;
    const auto bytes = bytes_by_reader();
    for (NodeId source = 0; source < graph_.size(); ++source) {
      if (bytes[source].size() < 2 || bytes[source].size() > kMostReaders) continue;
      const auto& [first, first_bytes] = *bytes[source].begin();
      for (auto it = std::next(bytes[source].begin()); it != bytes[source].end(); ++it) {
        if (!noted.insert(std::minmax(first, it->first)).second) continue;
        found.push_back({source, first, it->first,
                         refusal_or(first, it->first, "other merges were made before"),
                         std::min(first_bytes, it->second)});
      }
    }
    return found;
  }

 private:
  GroupId group_of(NodeId id) const { return plan_.group_of[id]; }

  // Bytes for writing the operand's node and reading it back.
  std::int64_t bytes_through_memory(const Operand& operand) const {
    const Node& node = graph_[operand.node];
    return static_cast<std::int64_t>(size_of(node.dtype)) *
           (node.shape.numel() + distinct_elements(operand.view));
  }

  std::optional<UnfusedEdge> edge_between(const Operand& operand, NodeId reader) const {
    const GroupId from = group_of(operand.node);
    const GroupId to = group_of(reader);
    if (from < 0 || to < 0 || from == to) return std::nullopt;
    return UnfusedEdge{operand.node,
                       reader,
                       from,
                       to,
                       refusal_or(from, to, "other merges were made before"),
                       bytes_through_memory(operand)};
  }

  // The bytes of a node that each group reads from memory, in the order of the groups.
  ById<NodeId, std::map<GroupId, std::int64_t>> bytes_by_reader() const {
    ById<NodeId, std::map<GroupId, std::int64_t>> bytes(graph_.nodes.size());
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (group_of(id) < 0) continue;
      for (const Operand& operand : graph_[id].operands) {
        const Node& source = graph_[operand.node];
        if (is_scalar(source.op) || source.op == Op::iota) continue;
        if (group_of(operand.node) == group_of(id)) continue;
        std::int64_t& most = bytes[operand.node][group_of(id)];
        most = std::max(most, distinct_elements(operand.view) *
                                  static_cast<std::int64_t>(size_of(source.dtype)));
      }
    }
    return bytes;
  }

  // The first kernel that writes into a node's buffer.
  GroupId first_writer(NodeId id) const {
    if (graph_[id].op != Op::concat) return group_of(id);
    GroupId first = kNoGroup;
    for (const Operand& part : graph_[id].operands)
      if (first < 0) first = first_writer(part.node);
    return first;
  }

  // A part that is not written by the kernel that writes the concat's first part.
  std::optional<UnfusedEdge> edge_into_concat(const Operand& part, NodeId concat) const {
    const GroupId from = first_writer(part.node);
    const GroupId home = first_writer(concat);
    if (from < 0 || from == home) return std::nullopt;
    return UnfusedEdge{
        part.node, concat, from, home, refusal_or(home, from, "they read nothing in common"), 0};
  }

  // Several kernels may write the parts in place, so a concat's readers always go through memory.
  std::optional<UnfusedEdge> edge_from_concat(const Operand& operand, NodeId reader) const {
    if (group_of(reader) < 0) return std::nullopt;
    return UnfusedEdge{operand.node,
                       reader,
                       first_writer(operand.node),
                       group_of(reader),
                       "a concat's parts are stored before it is read",
                       bytes_through_memory(operand)};
  }

  // Why two groups of the plan did not merge.
  std::string refusal(GroupId from, GroupId to) const {
    if (!fuse_) return "fusion is off";
    const auto grouped = [&](GroupId group) {
      return grouping_.group_of(plan_.groups[group].nodes.front());
    };
    return grouping_.refusal(grouped(from), grouped(to));
  }

  std::string refusal_or(GroupId from, GroupId to, const char* otherwise) const {
    std::string reason = refusal(from, to);
    return reason.empty() ? otherwise : reason;
  }

  const Plan& plan_;
  const Graph& graph_;
  const Grouping& grouping_;
  const bool fuse_;
};

}  // namespace

std::vector<UnfusedEdge> unfused_edges(const Plan& plan, const Grouping& grouping, bool fuse) {
  return UnfusedEdges(plan, grouping, fuse).edges();
}

std::vector<SharedRead> shared_reads(const Plan& plan, const Grouping& grouping, bool fuse) {
  return UnfusedEdges(plan, grouping, fuse).shared_reads();
}

}  // namespace sinter
