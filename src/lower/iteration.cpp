// Collecting a group's accesses and merging axes.
#include "src/lower/iteration.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "src/base/check.h"
#include "src/lower/online.h"

namespace sinter {

Level level_of(const Plan& plan, const Domain& domain, NodeId id) {
  const Node& node = plan.graph[id];
  if (node.op == Op::reduce) return Level::row;
  return domain.reduced != 0 && node.shape == domain.kept() ? Level::row : Level::full;
}

Level reading_level(const Plan& plan, const Domain& domain, NodeId id) {
  return plan.graph[id].op == Op::reduce ? Level::full : level_of(plan, domain, id);
}

std::vector<int> IterationSpace::kept_axes() const {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(axes.size()); ++i)
    if (!axes[static_cast<std::size_t>(i)].reduced) found.push_back(i);
  return found;
}

std::vector<int> IterationSpace::reduced_axes() const {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(axes.size()); ++i)
    if (axes[static_cast<std::size_t>(i)].reduced) found.push_back(i);
  return found;
}

const Access& IterationSpace::find_read(const Operand& operand, Level level) const {
  for (const Access& access : accesses)
    if (!access.write && access.node == operand.node && access.level == level &&
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

bool has_wide_places(const Access& access, std::span<const std::int64_t> sizes) {
  double farthest =
      std::abs(static_cast<double>(access.offset)) + static_cast<double>(access.start);
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    farthest +=
        std::abs(static_cast<double>(access.strides[axis])) * static_cast<double>(sizes[axis]);
  return farthest >= static_cast<double>(kMostNarrowPlace);
}

namespace {

// Strides over the domain's axes of a view that has the domain's shape, or its kept axes only.
std::vector<std::int64_t> domain_strides(const View& view, Level level, const Domain& domain) {
  std::vector<std::int64_t> strides;
  int next = 0;
  for (int i = 0; i < domain.shape.rank(); ++i) {
    const bool skipped = level == Level::row && (domain.reduced >> i & 1);
    strides.push_back(skipped ? 0 : view.strides[next++]);
  }
  return strides;
}

void collect_accesses(const Plan& plan, int index, IterationSpace& space) {
  const FusionGroup& group = plan.groups[static_cast<std::size_t>(index)];
  for (NodeId id : group.nodes) {
    const Level level = reading_level(plan, group.domain, id);
    for (const Operand& operand : plan.graph[id].operands) {
      const Node& source = plan.graph[operand.node];
      if (source.op == Op::constant) continue;
      if (plan.group_of[static_cast<std::size_t>(operand.node)] == index) continue;
      const bool known =
          std::any_of(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
            return access.node == operand.node && access.level == level &&
                   access.view == operand.view;
          });
      if (known) continue;
      // A range is no buffer: its "offsets" are its positions.
      const View view = source.op == Op::iota ? operand.view : plan.buffer_view(operand);
      const int bytes = source.op == Op::iota ? 0 : static_cast<int>(size_of(source.dtype));
      // Kernels check that offsets are not negative: walking backwards starts above the lowest.
      const bool backwards = source.op != Op::iota && has_negative_strides(view);
      const std::int64_t lowest = backwards ? extent(view).first : view.offset;
      space.accesses.push_back({operand.node, operand.view, level, false, bytes, lowest,
                                domain_strides(view, level, group.domain), view.offset - lowest});
    }
  }
  for (NodeId id : group.outputs) {
    const Level level = level_of(plan, group.domain, id);
    const View& view = plan.placements[static_cast<std::size_t>(id)].view;
    const int bytes = static_cast<int>(size_of(plan.graph[id].dtype));
    space.accesses.push_back(
        {id, view, level, true, bytes, view.offset, domain_strides(view, level, group.domain)});
  }
}

bool needs_rows_again(const Plan& plan, int index) {
  const FusionGroup& group = plan.groups[static_cast<std::size_t>(index)];
  return std::any_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) {
    const std::vector<Operand>& operands = plan.graph[id].operands;
    return reading_level(plan, group.domain, id) == Level::full &&
           std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
             return plan.group_of[static_cast<std::size_t>(operand.node)] == index &&
                    level_of(plan, group.domain, operand.node) == Level::row;
           });
  });
}

// How many tiles of elements that took some work wait for reductions, at most at once. What is made
// of them at little cost is made again. A node's depth: how many reductions it needs, one after the
// other.
int kept_computed(const Plan& plan, int index) {
  const FusionGroup& group = plan.groups[static_cast<std::size_t>(index)];
  struct Use {
    int depth = 0;
    int needed = 0;  // the depth of what needs it last
  };
  std::map<NodeId, Use> uses;
  int deepest = 0;
  for (NodeId id : group.nodes) {
    int before = 0;
    for (const Operand& operand : plan.graph[id].operands)
      if (const auto found = uses.find(operand.node); found != uses.end())
        before = std::max(before, found->second.depth);
    const int depth = before + (plan.graph[id].op == Op::reduce ? 1 : 0);
    uses[id] = {depth, before};
    deepest = std::max(deepest, depth);
  }
  const auto is_heavy = [&](NodeId id) {
    return level_of(plan, group.domain, id) == Level::full &&
           info(plan.graph[id].op).cost >= kHeavyCost;
  };
  for (auto it = group.nodes.rbegin(); it != group.nodes.rend(); ++it) {
    if (reading_level(plan, group.domain, *it) != Level::full) continue;
    const bool is_reduce = plan.graph[*it].op == Op::reduce;
    const Use& use = uses[*it];
    const int when = is_reduce ? use.depth - 1 : is_heavy(*it) ? use.depth : use.needed;
    for (const Operand& operand : plan.graph[*it].operands)
      if (const auto found = uses.find(operand.node); found != uses.end())
        found->second.needed = std::max(found->second.needed, when);
  }
  int most = 0;
  for (int depth = 0; depth < deepest; ++depth)
    most = std::max(most, static_cast<int>(
                              std::count_if(group.nodes.begin(), group.nodes.end(), [&](NodeId id) {
                                const Use& use = uses[id];
                                return is_heavy(id) && use.depth <= depth && use.needed > depth;
                              })));
  return most;
}

void erase_axis(IterationSpace& space, std::size_t axis) {
  space.axes.erase(space.axes.begin() + static_cast<std::ptrdiff_t>(axis));
  for (Access& access : space.accesses)
    access.strides.erase(access.strides.begin() + static_cast<std::ptrdiff_t>(axis));
}

// Axis `outer` continues where `inner` ends, in every access.
bool mergeable(const IterationSpace& space, std::size_t outer, std::size_t inner) {
  if (space.axes[outer].reduced != space.axes[inner].reduced) return false;
  return std::all_of(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
    return access.strides[outer] == access.strides[inner] * space.axes[inner].size;
  });
}

}  // namespace

IterationSpace iteration_space(const Plan& plan, int index) {
  const Domain& domain = plan.groups[static_cast<std::size_t>(index)].domain;
  IterationSpace space;
  for (int i = 0; i < domain.shape.rank(); ++i)
    space.axes.push_back({domain.shape[i], (domain.reduced >> i & 1) != 0});
  collect_accesses(plan, index, space);
  space.has_online_sums = !online_sums(plan, index).empty();
  for (NodeId id : plan.groups[static_cast<std::size_t>(index)].nodes)
    space.reductions += plan.graph[id].op == Op::reduce;
  space.needs_rows_again = needs_rows_again(plan, index);
  space.kept_computed = kept_computed(plan, index);

  // Drop axes of one element, but keep one reduced axis so that a reduction stays one.
  for (std::size_t i = 0; i < space.axes.size();) {
    const bool last_reduced = space.axes[i].reduced && space.reduced_axes().size() == 1;
    if (space.axes[i].size == 1 && !last_reduced)
      erase_axis(space, i);
    else
      ++i;
  }
  for (bool merged = true; merged;) {
    merged = false;
    for (std::size_t outer = 0; outer < space.axes.size() && !merged; ++outer) {
      std::size_t inner = outer + 1;  // the next axis of the same kind
      while (inner < space.axes.size() && space.axes[inner].reduced != space.axes[outer].reduced)
        ++inner;
      if (inner == space.axes.size() || !mergeable(space, outer, inner)) continue;
      space.axes[inner].size *= space.axes[outer].size;
      erase_axis(space, outer);
      merged = true;
    }
  }
  return space;
}

}  // namespace sinter
