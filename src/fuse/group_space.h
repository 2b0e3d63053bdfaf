// The index space of a group: axes, each parallel or reduced, and for every node the axes its
// elements run along. In: shapes, views. Out: the space two groups can share, or why they cannot;
// strides of a view along the axes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/by_id.h"
#include "src/graph/graph.h"

namespace sinter {

struct GroupAxis {
  std::int64_t size = 1;
  bool reduced = false;  // some node of the group reduces over it
  bool whole = false;    // some node reads through a view that is padded along it: never split
  friend bool operator==(const GroupAxis&, const GroupAxis&) = default;
};

using AxisId = int;
template <typename T>
using ByAxis = ById<AxisId, T>;

using GroupAxes = ByAxis<GroupAxis>;

std::int64_t numel(const GroupAxes& axes);
// Whether a tensor costs little to read in any order: caches hold it, or a kernel over the axes
// computes far more elements.
bool is_cheap_in_any_order(std::int64_t elements, const GroupAxes& axes);
GroupAxes kept_axes(const GroupAxes& axes);         // those that are not reduced
std::uint32_t reduced_mask(const GroupAxes& axes);  // bit i: axis i
int long_reduced_axes(const GroupAxes& axes);       // number of reduced axes longer than 1
std::string to_string(const GroupAxes& axes);       // "(4, 6)"
std::string axes_text(std::uint32_t mask);          // "0, 2"

// Indices of group axes, outermost first, that a node's row-major elements run along. One axis of a
// shape can map to several group axes, so nodes of different shapes can share a space: (8, 6) and
// (2, 4, 6) both run along axes of sizes 2, 4 and 6.
using AxisList = std::vector<AxisId>;

// A node's axes in its group's space. A reduction is computed over its operand's axes, and its
// result has the kept ones; a pointwise node's result has all the axes it is computed over.
struct NodeAxes {
  AxisList computed_over;
  AxisList result;
};

// The space of a group with just this node, and the node's axes in it.
GroupAxes space_of(const Node& node);
NodeAxes axes_of(const Node& node);

// The stride of a view along each axis of the group. The view's elements run along `list`; the
// strides along other axes are 0.
ByAxis<std::int64_t> strides_along(const View& view, const AxisList& list, const GroupAxes& axes);
// The same for the row-major elements of a node whose elements run along `list`.
ByAxis<std::int64_t> dense_strides(const AxisList& list, const GroupAxes& axes);

// Whether both strides address the same elements; axes of size 1 do not matter.
bool are_same_elements(const ByAxis<std::int64_t>& a, const ByAxis<std::int64_t>& b,
                       const GroupAxes& axes);

// A space for two groups: its axes, and the joint axes that each group's axes map to.
struct JointSpace {
  GroupAxes axes;
  ByAxis<AxisList> from_a;  // by axis of a; empty: they stay what they are
  ByAxis<AxisList> from_b;
};
struct SpaceVerdict {
  std::optional<JointSpace> space;
  std::string refusal;  // why there is no joint space, if the reason is wanted
};
// Reasons are texts, and most are never read.
enum class Reason : std::uint8_t { unasked, wanted };
// Whether axes may be split so that groups of different shapes share a space.
enum class SplitAxes : std::uint8_t { no, yes };
SpaceVerdict join_spaces(const GroupAxes& a, const GroupAxes& b, SplitAxes split,
                         Reason reason = Reason::wanted);

// The list translated to joint axes.
AxisList mapped(const AxisList& list, const ByAxis<AxisList>& to_joint);
bool is_identity(const ByAxis<AxisList>& to_joint);

}  // namespace sinter
