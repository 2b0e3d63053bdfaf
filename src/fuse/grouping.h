// Grouping: which nodes share a kernel. Every computing node starts as its own group; groups joined
// by an edge, then groups that read the same data, are merged while they can share one index space,
// no cycle appears and the kernel does not get too large.
// In: a Graph. Out: groups of nodes, and why two groups cannot be one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/by_id.h"
#include "src/fuse/plan.h"

namespace sinter {

// Nodes that kernels compute; others are leaves and concats.
bool computes(const Node& node);

using GroupId = std::int32_t;
inline constexpr GroupId kNoGroup = -1;

class Grouping {
 public:
  // Every computing node by itself.
  Grouping(const Graph& graph, const FusionOptions& options);

  void merge_all();

  // kNoGroup for leaves and concats.
  GroupId group_of(NodeId id) const { return computes(graph_[id]) ? unit_of_[id] : kNoGroup; }
  // By group; those that were merged into others have no members. In evaluation order.
  std::vector<NodeId> members(GroupId group) const;
  const GroupAxes& axes(GroupId group) const { return units_[group].axes; }
  const NodeAxes& axes_of(NodeId id) const { return node_axes_[id]; }

  // Why two groups are not one.
  std::string refusal(GroupId a, GroupId b) const;

 private:
  struct Group {
    std::vector<NodeId> members;
    GroupAxes axes;
    int work = 0;                        // simple instructions per element
    std::map<int, int> reductions = {};  // by round: how many are accumulated in one pass
    bool has_contraction = false;
    bool runs_in_library = false;
  };
  void merge_along_edges();
  void merge_readers_of_one_input();
  bool try_merge(GroupId a, GroupId b);
  SpaceVerdict judge(GroupId a, GroupId b) const;
  bool has_misaligned_edge(GroupId a, GroupId b, const JointSpace& joint) const;
  std::string first_misaligned_edge(GroupId a, GroupId b, const JointSpace& joint) const;
  // The axes of two nodes, one of each group, in the joint space.
  struct Edge {
    AxisList reader;
    AxisList source;
  };
  Edge edge_axes(NodeId reader, NodeId source, GroupId a, const JointSpace& joint) const;
  bool is_aligned(const Operand& operand, const Edge& edge, const GroupAxes& axes) const;
  void map_members(GroupId group, const std::vector<AxisList>& to_joint);
  std::string too_large(GroupId a, GroupId b) const;
  std::size_t accesses(GroupId a, GroupId b) const;

  // A group, or a concat: what a path from one group to another leads through.
  using UnitId = GroupId;
  bool has_path_around(GroupId a, GroupId b) const;
  void reorder(GroupId a, GroupId b, GroupId merged);
  std::vector<UnitId> between(UnitId from, UnitId to, bool forward) const;
  template <typename VisitNext>
  std::vector<UnitId> reached(UnitId from, int after, int before,
                              const VisitNext& visit_next) const;

  const Graph& graph_;
  const FusionOptions& options_;
  SplitAxes split_axes_ = SplitAxes::no;
  ById<NodeId, std::vector<NodeId>> users_;
  ById<NodeId, char> is_output_;
  ById<NodeId, UnitId> unit_of_;  // kNoGroup for leaves
  ById<UnitId, Group> units_;
  ById<NodeId, NodeAxes> node_axes_;  // in the space of the node's group; none for leaves
  ById<UnitId, int> order_;           // topological
};

}  // namespace sinter
