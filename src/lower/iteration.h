// IterationSpace: the index space of a group with its axes merged, and every memory access as
// strides over those axes. In: a Plan and a group. Out: the description families (family.h) use.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/fuse/plan.h"

namespace sinter {

struct AxisWindow {
  AxisId axis = 0;  // of the space
  std::int64_t first = 0;
  std::int64_t last = 0;  // exclusive
};

// How an access finds its elements along an axis merged from two without an even stride across
// them: to its steps along the axis, an index i adds i / inner times the outer stride and i % inner
// times the inner one.
struct SplitIndex {
  AxisId axis = -1;
  std::int64_t inner = 1;
  std::int64_t outer_stride = 0;
  std::int64_t inner_stride = 0;
};

// One memory access: an operand read from outside the group, or a stored value.
struct Access {
  NodeId node = -1;      // read: the source node; write: the node stored
  View view;             // read: the operand's view, for find_read()
  bool per_row = false;  // accessed once per row, not once per element along the reduced axes
  bool write = false;
  int element_bytes = 4;         // 0: a range, which is not in memory
  std::int64_t offset = 0;       // of its lowest element in its buffer, in elements
  ByAxis<std::int64_t> strides;  // by axis of the space
  std::int64_t start = 0;        // offset of index 0 from the lowest element
  // For a padded view: its window along some axes.
  std::vector<AxisWindow> windows = {};
  Scalar fill = {};  // its value elsewhere
  std::optional<SplitIndex> split = {};

  std::int64_t stride(AxisId axis) const { return strides[axis]; }
};

// A group's contraction of two tensors in memory.
struct Contraction {
  std::size_t a = 0;  // indices of the accesses that read its operands
  std::size_t b = 0;
  bool is_alone = true;  // the group has no other node
};

struct IterationSpace {
  GroupAxes axes;  // without unit axes; adjacent axes contiguous in all accesses are merged
  std::vector<Access> accesses;
  std::optional<Contraction> contraction;
  bool has_online_sums = false;  // see online.h
  // Plan::batch_invariant: configs may not let the number of rows, or where rows lie in memory,
  // change the order of additions. Reduced axes then are not merged: rows of one tensor would be,
  // but not those of several.
  bool batch_invariant = false;
  bool keeps_innermost = false;  // a reduction's innermost axis is kept (Node::keeps_innermost)
  int reductions = 0;
  bool needs_rows_again = false;  // a row's elements are used again after its reduction
  int kept_computed = 0;          // peak number of computed tiles kept live across a reduction
  std::int64_t bytes = 0;         // read and written

  std::int64_t size(AxisId axis) const { return axes[axis].size; }
  bool is_reduced(AxisId axis) const { return axes[axis].reduced; }
  AxisList kept_axes() const;
  AxisList reduced_axes() const;
  const Access& find_read(const Operand& operand, bool per_row) const;
  const Access& find_write(NodeId node) const;
};

// Whether vectors along the axis stay within one index of the outer axis it was merged from.
bool has_even_jumps(const Access& access, AxisId axis, int vector);

// Whether an offset in the buffer may need more than 32 bits, for axes of these sizes.
inline constexpr std::int64_t kMostNarrowOffset = (std::int64_t{1} << 31) - (1 << 20);
bool needs_wide_offsets(const Access& access, const ByAxis<std::int64_t>& sizes);

IterationSpace iteration_space(const Plan& plan, GroupId group);

// The space of a group that reduces nothing, with its last two axes as one. Reads that do not step
// evenly along it find their elements by a division. Nothing if a write or a padded view does not.
std::optional<IterationSpace> with_flat_rows(const IterationSpace& space);

}  // namespace sinter
