// The index space of a group: axes, each parallel or reduced, and for every node the axes its
// elements run along. In: shapes, views. Out: the space that two groups can share, or why there is
// none; strides of a view along the axes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/graph/graph.h"

namespace sinter {

struct GroupAxis {
  std::int64_t size = 1;
  bool reduced = false;  // some node of the group reduces over it
  bool whole = false;    // some node reads through a view that is padded along it: never split
  friend bool operator==(const GroupAxis&, const GroupAxis&) = default;
};

using GroupAxes = std::vector<GroupAxis>;
std::int64_t numel(const GroupAxes& axes);
GroupAxes kept_axes(const GroupAxes& axes);         // those that are not reduced
std::uint32_t reduced_mask(const GroupAxes& axes);  // bit i: axis i
int long_reduced_axes(const GroupAxes& axes);       // reduced axes of several elements
std::string to_string(const GroupAxes& axes);       // "(4, 6)"
std::string axes_text(std::uint32_t mask);          // "0, 2"

// Axes of a group by index, outermost first: a node's row-major elements run along them. One axis
// of a shape can be several of the group, so nodes of different shapes share a space: (8, 6) and
// (2, 4, 6) both run along axes of sizes 2, 4 and 6.
using AxisList = std::vector<int>;

// How a node lies in its group's space. A reduction is computed over its operand's axes and has
// those that are left; a pointwise node has all the axes it is computed over.
struct NodeAxes {
  AxisList computed_over;
  AxisList result;
};

// A node as a group of its own.
GroupAxes space_of(const Node& node);
NodeAxes axes_of(const Node& node);

// The stride of a view along each axis of the group. The view's elements run along `list`; along
// other axes it does not move.
std::vector<std::int64_t> strides_along(const View& view, const AxisList& list,
                                        const GroupAxes& axes);
// The same for the row-major elements of a node whose elements run along `list`.
std::vector<std::int64_t> dense_strides(const AxisList& list, const GroupAxes& axes);

// Whether these strides lead to the same elements.
bool are_same_elements(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                       const GroupAxes& axes);

// A space for two groups: its axes, and the axes that those of each group became.
struct JointSpace {
  GroupAxes axes;
  std::vector<AxisList> from_a;  // by axis of a
  std::vector<AxisList> from_b;
};
struct SpaceVerdict {
  std::optional<JointSpace> space;
  std::string refusal;  // if there is none
};
// Whether axes may be split so that groups of different shapes share a space.
enum class SplitAxes : std::uint8_t { no, yes };
SpaceVerdict join_spaces(const GroupAxes& a, const GroupAxes& b, SplitAxes split);

// The list in terms of the joint axes.
AxisList mapped(const AxisList& list, const std::vector<AxisList>& to_joint);
bool is_identity(const std::vector<AxisList>& to_joint);

}  // namespace sinter
