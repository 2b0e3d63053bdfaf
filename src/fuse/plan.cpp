// Plans: options, checks and printing.
#include "src/fuse/plan.h"

#include <algorithm>

#include "src/base/check.h"

namespace sinter {

View Plan::buffer_view(const Operand& operand) const {
  const auto view = compose(operand.view, placements[static_cast<std::size_t>(operand.node)].view);
  SINTER_ASSERT(view.has_value(), "%{} is placed where its reader's view cannot reach",
                operand.node);
  return *view;
}

std::string axes_text(std::uint32_t axes) {
  std::string text;
  for (int i = 0; i < kMaxRank; ++i)
    if (axes >> i & 1) text += fmt::format("{}{}", text.empty() ? "" : ", ", i);
  return text;
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
