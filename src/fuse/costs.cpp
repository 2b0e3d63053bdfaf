// Counts bytes and operations.
#include "src/fuse/costs.h"

#include <optional>

#include "src/graph/power.h"

namespace sinter {
namespace {

// Estimates how many elements of one buffer the views read: the sum over the views, but at most the
// span from the first to the last element.
std::int64_t covered_elements(const std::vector<View>& views) {
  std::int64_t elements = 0;
  std::optional<Extent> all;
  for (const View& view : views) {
    if (view.shape.numel() == 0) continue;
    elements += distinct_elements(view);
    const Extent range = extent(view);
    all = all ? Extent{std::min(all->first, range.first), std::max(all->last, range.last)} : range;
  }
  return all ? std::min(elements, all->last - all->first + 1) : 0;
}

}  // namespace

void count_costs(const Plan& plan, FusionGroup& group) {
  const Graph& graph = plan.graph;
  const GroupId index = plan.group_of[group.nodes.front()];
  OutsideReads read;
  for (NodeId id : group.nodes) {
    const Node& node = graph[id];
    const std::int64_t elements =
        is_reduction(node.op) ? node.operands[0].view.shape.numel() : node.shape.numel();
    group.flops += elements * std::max(1, cost_of(graph, node));
    const auto is_inside = [&](NodeId source) { return plan.group_of[source] == index; };
    add_outside_reads(graph, id, is_inside, read);
  }
  for (const auto& [id, views] : read)
    group.bytes_read +=
        covered_elements(views) * static_cast<std::int64_t>(size_of(graph[id].dtype));
  for (NodeId id : group.outputs)
    group.bytes_written +=
        graph[id].shape.numel() * static_cast<std::int64_t>(size_of(graph[id].dtype));
}

}  // namespace sinter
