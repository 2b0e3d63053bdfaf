// Grouping: which nodes share a kernel. Every computing node starts as its own group; groups joined
// by an edge, then groups that read the same data, then those that write parts of one concat, are
// merged while they can share one index space, no cycle appears and the kernel does not get too
// large.
// In: a Graph. Out: groups of nodes, and why two groups cannot be one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/by_id.h"
#include "src/fuse/plan.h"

namespace sinter {

// Whether a kernel computes the node; all others are leaves and concats.
bool computes(const Node& node);

class Grouping {
 public:
  // Starts with one group per computing node.
  Grouping(const Graph& graph, const FusionOptions& options);

  void merge_all();

  // kNoGroup for leaves and concats.
  GroupId group_of(NodeId id) const { return computes(graph_[id]) ? unit_of_[id] : kNoGroup; }
  // Members in evaluation order. Groups merged into another have none.
  std::vector<NodeId> members(GroupId group) const;
  const GroupAxes& axes(GroupId group) const { return units_[group].axes; }
  const NodeAxes& axes_of(NodeId id) const { return node_axes_[id]; }

  bool rows_on_chip() const { return options_.rows_on_chip; }

  // Why the two groups were not merged; empty if they could be, but share nothing.
  std::string refusal(GroupId a, GroupId b) const;

 private:
  struct Group {
    std::vector<NodeId> members;
    GroupAxes axes;
    int work = 0;                        // simple instructions per element
    std::map<int, int> reductions = {};  // by round: number accumulated in one pass
    std::size_t most_accesses = 0;       // an upper bound of its reads and writes
    bool has_contraction = false;
    std::string_view alone = {};  // not empty: why nothing may be fused with it
  };
  void merge_along_edges();
  void merge_readers_of_one_input();
  void merge_small_kernels();
  void merge_parts_of_concats();
  bool may_write_one_concat(GroupId a, GroupId b) const;
  bool try_merge(GroupId a, GroupId b);
  SpaceVerdict judge(GroupId a, GroupId b, Reason reason) const;
  bool keeps_rows_whole(GroupId a, GroupId b, const JointSpace& joint) const;
  bool has_misaligned_edge(GroupId a, GroupId b, const JointSpace& joint) const;
  std::string first_misaligned_edge(GroupId a, GroupId b, const JointSpace& joint) const;
  // The joint-space axes of an edge's two nodes, one in each group.
  struct Edge {
    AxisList reader;
    AxisList source;
  };
  Edge edge_axes(NodeId reader, NodeId source, GroupId a, const JointSpace& joint) const;
  bool is_aligned(const Operand& operand, const Edge& edge, const GroupAxes& axes) const;
  bool reads_in_order(NodeId reader, const Operand& operand, const JointSpace& joint) const;
  void map_members(GroupId group, const ByAxis<AxisList>& to_joint);
  std::string too_large(GroupId a, GroupId b) const;
  std::size_t accesses(GroupId a, GroupId b) const;
  std::size_t most_accesses(GroupId a, GroupId b) const;

  // A group or a concat: the vertices of paths between groups.
  using UnitId = GroupId;
  using PlaceId = int;
  struct Ordered {
    UnitId first;
    UnitId last;
  };
  Ordered ordered(UnitId a, UnitId b) const;
  bool are_neighbours(const Ordered& units) const;
  void vacate(PlaceId place);
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
  ById<UnitId, PlaceId> order_;       // position in topological order
  // The positions in the order that merging has not vacated, as a linked list.
  ById<PlaceId, PlaceId> next_place_;
  ById<PlaceId, PlaceId> previous_place_;
  // The latest search that saw a unit.
  mutable ById<UnitId, int> seen_by_;
  mutable int searches_ = 0;
};

}  // namespace sinter
