// Plan: options, verification and printing.
#include "src/fuse/plan.h"

#include <algorithm>

#include "src/base/check.h"

namespace sinter {

View Plan::buffer_view(const Operand& operand) const {
  const auto view = compose(operand.view, placements[operand.node].view);
  SINTER_ASSERT(view.has_value(), "%{} is placed where its reader's view cannot reach",
                operand.node);
  return *view;
}

std::size_t FusionGroup::position_of(NodeId node) const {
  const auto at = std::lower_bound(nodes.begin(), nodes.end(), node);
  SINTER_ASSERT(at != nodes.end() && *at == node, "%{} is not in the group", node);
  return static_cast<std::size_t>(at - nodes.begin());
}

namespace {

// Whether the group reduces, but over none of these axes.
bool are_kept(const GroupAxes& axes, const AxisList& list) {
  return reduced_mask(axes) != 0 &&
         std::none_of(list.begin(), list.end(), [&](AxisId axis) { return axes[axis].reduced; });
}

}  // namespace

bool FusionGroup::is_per_row(NodeId node) const { return are_kept(axes, axes_of(node).result); }

bool FusionGroup::is_computed_per_row(NodeId node) const {
  return are_kept(axes, axes_of(node).computed_over);
}

FusionOptions fusion_options(bool fuse, int parallelism, const Machine& machine) {
  FusionOptions options;
  options.fuse = fuse;
  options.parallelism = parallelism;
  if (machine.kind == MachineKind::gpu) {
    // The threads of one block, or of a cluster of blocks, share a row.
    options.whole_row = machine.largest_cluster > 1 ? 1 << 17 : 1 << 15;
    options.smallest_column_part = 64;
    options.column_tile = 8192;
    // An access takes a pointer, a stride per axis and little more, of 4095 parameter words in all.
    options.most_accesses = 128;
    options.repeated_cost = 8 * kHeavyCost;
    options.rows_on_chip = true;
  }
  return options;
}

void make_batch_invariant(FusionOptions& options) {
  options.batch_invariant = true;
  options.separate_ops = true;
  options.rows_on_chip = false;  // reduced axes stay apart, see iteration_space()
  options.runs_alone = nullptr;  // libraries choose the order of additions by shape
}

// Checks that every node's axes match its size, and that it reads nodes of its group elementwise.
void verify_axes(const Plan& plan, const FusionGroup& group) {
  SINTER_ASSERT(group.node_axes.size() == group.nodes.size(), "a node has no axes");
  const auto elements = [&](const AxisList& list) {
    std::int64_t count = 1;
    for (AxisId axis : list) {
      SINTER_ASSERT(group.axes.contains(axis), "the group has no axis {}", axis);
      count *= group.axes[axis].size;
    }
    return count;
  };
  for (NodeId id : group.nodes) {
    const Node& node = plan.graph[id];
    const NodeAxes& axes = group.axes_of(id);
    SINTER_ASSERT(elements(axes.result) == node.shape.numel(), "%{} has other axes", id);
    for (const Operand& operand : node.operands) {
      if (!std::binary_search(group.nodes.begin(), group.nodes.end(), operand.node)) continue;
      SINTER_ASSERT(
          !operand.view.is_padded() &&
              are_same_elements(strides_along(operand.view, axes.computed_over, group.axes),
                                dense_strides(group.axes_of(operand.node).result, group.axes),
                                group.axes),
          "%{} reads other elements of %{}", id, operand.node);
    }
  }
}

void verify(const Plan& plan) {
  ById<NodeId, char> ready(plan.graph.nodes.size(), 0);
  // Leaves are always ready; a concat is ready once its operands are.
  auto settle = [&] {
    for (NodeId id = 0; id < plan.graph.size(); ++id) {
      const auto& operands = plan.graph[id].operands;
      if (plan.group_of[id] < 0)
        ready[id] = std::all_of(operands.begin(), operands.end(),
                                [&](const Operand& operand) { return ready[operand.node] != 0; });
    }
  };
  for (const FusionGroup& group : plan.groups) {
    settle();
    SINTER_ASSERT(!group.nodes.empty() && !group.outputs.empty(), "a group computes nothing");
    verify_axes(plan, group);
    for (NodeId id : group.nodes) {
      for (const Operand& operand : plan.graph[id].operands)
        SINTER_ASSERT(ready[operand.node], "%{} before %{}", id, operand.node);
      ready[id] = 1;
    }
    for (NodeId id : group.outputs) SINTER_ASSERT(plan.placements[id].buffer >= 0);
  }
}

std::string to_string(const Plan& plan) {
  std::string text;
  for (GroupId g = 0; g < plan.groups.end_id(); ++g) {
    const FusionGroup& group = plan.groups[g];
    text += fmt::format("group {} over {}", g, to_string(group.axes));
    if (const std::uint32_t reduced = reduced_mask(group.axes); reduced != 0)
      text += fmt::format(" reducing axes {}", axes_text(reduced));
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
  for (const SharedRead& read : plan.shared_reads)
    text += fmt::format("%{} is read by groups {} and {}, {} bytes: {}\n", read.source, read.first,
                        read.second, read.bytes, read.reason);
  return text;
}

}  // namespace sinter
