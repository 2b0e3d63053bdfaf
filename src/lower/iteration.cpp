// Collects a group's accesses and merges axes.
#include "src/lower/iteration.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/base/check.h"
#include "src/lower/online.h"

namespace sinter {

AxisList IterationSpace::kept_axes() const {
  AxisList found;
  for (AxisId i = 0; i < axes.end_id(); ++i)
    if (!axes[i].reduced) found.push_back(i);
  return found;
}

AxisList IterationSpace::reduced_axes() const {
  AxisList found;
  for (AxisId i = 0; i < axes.end_id(); ++i)
    if (axes[i].reduced) found.push_back(i);
  return found;
}

const Access& IterationSpace::find_read(const Operand& operand, bool per_row) const {
  for (const Access& access : accesses)
    if (!access.write && access.node == operand.node && access.per_row == per_row &&
        access.view == operand.view)
      return access;
  SINTER_ASSERT(false, "no access to %{}", operand.node);
  return accesses.front();
}

const Access& IterationSpace::find_write(NodeId node) const {
  for (const Access& access : accesses)
    if (access.write && access.node == node) return access;
  SINTER_ASSERT(false, "no store of %{}", node);
  return accesses.front();
}

bool has_even_jumps(const Access& access, AxisId axis, int vector) {
  if (!access.split || access.split->axis != axis) return true;
  return access.split->inner % vector == 0 && access.split->outer_stride % vector == 0 &&
         access.split->inner_stride == 0;
}

bool needs_wide_offsets(const Access& access, const ByAxis<std::int64_t>& sizes) {
  double farthest =
      std::abs(static_cast<double>(access.offset)) + std::abs(static_cast<double>(access.start));
  for (AxisId axis = 0; axis < sizes.end_id(); ++axis)
    farthest +=
        std::abs(static_cast<double>(access.strides[axis])) * static_cast<double>(sizes[axis]);
  if (access.split) {
    const double indices = static_cast<double>(sizes[access.split->axis]);
    const double inner = static_cast<double>(access.split->inner);
    farthest += std::abs(static_cast<double>(access.split->outer_stride)) * (indices / inner + 1) +
                std::abs(static_cast<double>(access.split->inner_stride)) * inner;
  }
  return farthest >= static_cast<double>(kMostNarrowOffset);
}

namespace {

// The windows of a padded view along the group's axes, which its padded axes are.
std::vector<AxisWindow> windows_along(const View& view, const AxisList& list,
                                      const GroupAxes& axes) {
  std::vector<AxisWindow> windows;
  std::size_t last = list.size();
  for (int i = view.shape.rank(); i-- > 0;) {
    if (view.shape[i] == 1) continue;
    std::int64_t size = 1;
    while (size != view.shape[i]) {
      const AxisId axis = list[--last];
      size *= axes[axis].size;
      if (!view.is_padded_along(i)) continue;
      if (size == 1) continue;
      SINTER_ASSERT(size == view.shape[i], "a padded axis of {} is split", to_string(view));
      windows.push_back({axis, view.window->first[i], view.window->last[i]});
    }
  }
  return windows;
}

void collect_accesses(const Plan& plan, GroupId index, IterationSpace& space) {
  const FusionGroup& group = plan.groups[index];
  for (NodeId id : group.nodes) {
    const bool per_row = group.is_computed_per_row(id);
    for (const Operand& operand : plan.graph[id].operands) {
      const Node& source = plan.graph[operand.node];
      if (is_scalar(source.op)) continue;
      if (plan.group_of[operand.node] == index) continue;
      const bool known =
          std::any_of(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
            return access.node == operand.node && access.per_row == per_row &&
                   access.view == operand.view;
          });
      if (known) continue;
      // A range has no buffer: its "offsets" are its indices.
      const View view = source.op == Op::iota ? operand.view : plan.buffer_view(operand);
      const int bytes = source.op == Op::iota ? 0 : static_cast<int>(size_of(source.dtype));
      // Kernels assert offsets >= 0, so reversed and padded views are based at their lowest
      // element.
      const bool starts_elsewhere = has_negative_strides(view) || view.is_padded();
      const bool moves = source.op != Op::iota && starts_elsewhere;
      const std::int64_t lowest = moves ? extent(view).first : view.offset;
      const AxisList& list = group.axes_of(id).computed_over;
      space.accesses.push_back({operand.node, operand.view, per_row, false, bytes, lowest,
                                strides_along(view, list, group.axes), view.offset - lowest});
      if (!view.is_padded()) continue;
      space.accesses.back().windows = windows_along(view, list, group.axes);
      space.accesses.back().fill = view.window->fill;
    }
  }
  for (NodeId id : group.outputs) {
    const bool per_row = group.is_per_row(id);
    const View& view = plan.placements[id].view;
    const int bytes = static_cast<int>(size_of(plan.graph[id].dtype));
    ByAxis<std::int64_t> strides = strides_along(view, group.axes_of(id).result, group.axes);
    // A stored tile must have a stride along each of its axes, even one of size 1, where a strided
    // result's stride is meaningless.
    for (AxisId axis : group.axes_of(id).result)
      if (std::int64_t& stride = strides[axis]; stride == 0 && group.axes[axis].size == 1)
        stride = 1;
    space.accesses.push_back({id, view, per_row, true, bytes, view.offset, std::move(strides)});
  }
}

std::optional<Contraction> find_contraction(const Plan& plan, GroupId index,
                                            const IterationSpace& space) {
  const FusionGroup& group = plan.groups[index];
  for (NodeId id : group.nodes) {
    const Node& node = plan.graph[id];
    if (node.op != Op::contract) continue;
    std::size_t found[2] = {};
    for (std::size_t i = 0; i < 2; ++i) {
      const Operand& operand = node.operands[i];
      const Op op = plan.graph[operand.node].op;
      const bool is_inside = plan.group_of[operand.node] == index;
      if (is_scalar(op) || op == Op::iota || is_inside) return std::nullopt;
      found[i] = static_cast<std::size_t>(&space.find_read(operand, false) - space.accesses.data());
    }
    return Contraction{found[0], found[1], group.nodes.size() == 1};
  }
  return std::nullopt;
}

bool needs_rows_again(const Plan& plan, GroupId index) {
  const FusionGroup& group = plan.groups[index];
  return std::any_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) {
    const std::vector<Operand>& operands = plan.graph[id].operands;
    return !group.is_computed_per_row(id) &&
           std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
             return plan.group_of[operand.node] == index && group.is_per_row(operand.node);
           });
  });
}

// Peak number of computed tiles kept live across a reduction. Counts only costly values: cheap ones
// are recomputed. A node's depth is the length of its longest chain of reductions.
int kept_computed(const Plan& plan, GroupId index) {
  const FusionGroup& group = plan.groups[index];
  struct Use {
    int depth = 0;
    int needed = 0;  // depth of the last use
  };
  std::vector<Use> uses(group.nodes.size());
  const auto for_each_inside = [&](NodeId id, const auto& visit) {
    for (const Operand& operand : plan.graph[id].operands)
      if (plan.group_of[operand.node] == index) visit(uses[group.position_of(operand.node)]);
  };
  int deepest = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    int before = 0;
    for_each_inside(group.nodes[i], [&](const Use& use) { before = std::max(before, use.depth); });
    const int depth = before + (is_reduction(plan.graph[group.nodes[i]].op) ? 1 : 0);
    uses[i] = {depth, before};
    deepest = std::max(deepest, depth);
  }
  // By depth: the increase in live tiles over the previous depth.
  ById<int, int> more(static_cast<std::size_t>(deepest) + 1, 0);
  for (std::size_t i = uses.size(); i-- > 0;) {
    const NodeId id = group.nodes[i];
    const auto [depth, needed] = uses[i];
    const bool is_heavy = info(plan.graph[id].op).cost >= kHeavyCost && !group.is_per_row(id);
    if (is_heavy && needed > depth) {
      ++more[depth];
      --more[needed];
    }
    if (group.is_computed_per_row(id)) continue;
    const int when = is_reduction(plan.graph[id].op) ? depth - 1 : is_heavy ? depth : needed;
    for_each_inside(id, [&](Use& use) { use.needed = std::max(use.needed, when); });
  }
  int most = 0;
  int waiting = 0;
  for (const int change : more) most = std::max(most, waiting += change);
  return most;
}

void erase_axis(IterationSpace& space, AxisId axis) {
  for (Access& access : space.accesses)
    for (AxisWindow& window : access.windows)
      if (window.axis > axis) --window.axis;
  for (Access& access : space.accesses)
    if (access.split && access.split->axis > axis) --access.split->axis;
  space.axes.erase(axis);
  for (Access& access : space.accesses) access.strides.erase(axis);
}

bool is_padded_along(const Access& access, AxisId axis) {
  return std::any_of(access.windows.begin(), access.windows.end(),
                     [&](const AxisWindow& window) { return window.axis == axis; });
}

// Whether axis `outer` continues where `inner` ends.
bool steps_evenly(const IterationSpace& space, const Access& access, AxisId outer, AxisId inner) {
  return !is_padded_along(access, outer) && !is_padded_along(access, inner) &&
         access.strides[outer] == access.strides[inner] * space.axes[inner].size;
}

// Whether every access steps evenly from one axis to the other.
bool mergeable(const IterationSpace& space, AxisId outer, AxisId inner) {
  if (space.axes[outer].reduced != space.axes[inner].reduced) return false;
  if (space.axes[outer].reduced && space.batch_invariant) return false;
  return std::all_of(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
    return steps_evenly(space, access, outer, inner);
  });
}

// Merges `outer` into `inner`.
void merge(IterationSpace& space, AxisId outer, AxisId inner) {
  space.axes[inner].size *= space.axes[outer].size;
  erase_axis(space, outer);
}

// Whether dividing indices to find its elements is cheap.
bool is_small_read(const IterationSpace& space, const Access& access) {
  std::int64_t elements = 1;
  for (AxisId axis = 0; axis < space.axes.end_id(); ++axis)
    if (access.strides[axis] != 0) elements *= space.axes[axis].size;
  return !access.write && access.windows.empty() && is_cheap_in_any_order(elements, space.axes);
}

// How an access is found along axes merged by a division: by the quotient and the remainder, or by
// steps along the merged axis with a jump at each multiple of the inner one, which leaves vectors
// within the inner axis in one piece.
enum class Found : std::uint8_t { by_remainder, by_jumps };

// Merges axes along which some accesses do not step evenly: these find their elements by a
// division.
template <typename FoundHow>
void merge_by_division(IterationSpace& space, AxisId outer, AxisId inner, const FoundHow& how) {
  const std::int64_t size = space.axes[inner].size;
  for (Access& access : space.accesses) {
    if (steps_evenly(space, access, outer, inner)) continue;
    const std::int64_t step = access.strides[inner];
    if (how(access) == Found::by_jumps) {
      access.split = SplitIndex{inner, size, access.strides[outer] - size * step, 0};
    } else {
      access.split = SplitIndex{inner, size, access.strides[outer], step};
      access.strides[inner] = 0;
    }
  }
  merge(space, outer, inner);
}

// Makes one axis of two reduced ones, so that rows can stay on chip: the pixels of all images of a
// batch norm, or the channels and pixels of a group norm with weights for each channel.
void merge_reduced_axes(IterationSpace& space) {
  const AxisList reduced = space.reduced_axes();
  if (reduced.size() != 2) return;
  const AxisId outer = reduced[0];
  const AxisId inner = reduced[1];
  const auto is_contiguous = [&](const Access& access) { return access.strides[inner] == 1; };
  const bool has_rows = std::any_of(space.accesses.begin(), space.accesses.end(), is_contiguous);
  for (const Access& access : space.accesses)
    if (!steps_evenly(space, access, outer, inner) && !is_small_read(space, access) &&
        (!has_rows || !access.windows.empty()))
      return;
  merge_by_division(space, outer, inner, [&](const Access& access) {
    return is_small_read(space, access) ? Found::by_remainder : Found::by_jumps;
  });
}

}  // namespace

IterationSpace iteration_space(const Plan& plan, GroupId index) {
  IterationSpace space;
  space.axes = plan.groups[index].axes;
  collect_accesses(plan, index, space);
  space.contraction = find_contraction(plan, index, space);
  space.has_online_sums = !online_sums(plan, index).empty();
  space.batch_invariant = plan.batch_invariant;
  for (NodeId id : plan.groups[index].nodes) {
    space.reductions += is_reduction(plan.graph[id].op) ? 1 : 0;
    space.keeps_innermost |= is_reduction(plan.graph[id].op) && plan.graph[id].keeps_innermost;
  }
  space.needs_rows_again = needs_rows_again(plan, index);
  space.kept_computed = kept_computed(plan, index);
  space.bytes = plan.groups[index].bytes();

  // Drop unit axes, but keep one reduced axis so that a reduction stays a reduction.
  for (AxisId i = 0; i < space.axes.end_id();) {
    const bool last_reduced = space.axes[i].reduced && space.reduced_axes().size() == 1;
    if (space.axes[i].size == 1 && !last_reduced)
      erase_axis(space, i);
    else
      ++i;
  }
  for (bool merged = true; merged;) {
    merged = false;
    for (AxisId outer = 0; outer < space.axes.end_id() && !merged; ++outer) {
      AxisId inner = outer + 1;  // the next axis of the same kind
      while (inner < space.axes.end_id() && space.axes[inner].reduced != space.axes[outer].reduced)
        ++inner;
      if (inner == space.axes.end_id() || !mergeable(space, outer, inner)) continue;
      merge(space, outer, inner);
      merged = true;
    }
  }
  if (plan.groups[index].rows_on_chip && !space.batch_invariant) merge_reduced_axes(space);
  return space;
}

std::optional<IterationSpace> with_flat_rows(const IterationSpace& space) {
  if (space.axes.size() < 2 || !space.reduced_axes().empty()) return std::nullopt;
  const AxisId inner = space.axes.end_id() - 1;
  for (const Access& access : space.accesses) {
    if (access.split) return std::nullopt;
    const bool is_even = steps_evenly(space, access, inner - 1, inner);
    if (!is_even && (access.write || !access.windows.empty())) return std::nullopt;
  }
  IterationSpace flat = space;
  merge_by_division(flat, inner - 1, inner, [](const Access&) { return Found::by_remainder; });
  return flat;
}

}  // namespace sinter
