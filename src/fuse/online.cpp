// Matches the pattern backwards from its last node.
#include "src/fuse/online.h"

#include "src/fuse/plan.h"

namespace sinter {

std::optional<OnlineNodes> online_nodes(const Graph& graph, NodeId id) {
  OnlineNodes found;
  const Node& sum = graph[found.sum = id];
  if (sum.op != Op::reduce || sum.reduce_kind != ReduceKind::sum) return {};
  const Node& power = graph[found.power = sum.operands[0].node];
  if (power.op != Op::exp || !same_access(sum.operands[0].view, dense_view(power.shape))) return {};
  const Node& below = graph[found.below = power.operands[0].node];
  if (below.op != Op::sub || !same_access(power.operands[0].view, dense_view(below.shape)))
    return {};
  const Node& max = graph[found.max = below.operands[1].node];
  if (max.op != Op::reduce || max.reduce_kind != ReduceKind::max || max.axes != sum.axes) return {};
  const Operand& u = below.operands[0];
  if (max.operands[0].node != u.node || !same_access(max.operands[0].view, u.view) ||
      !same_access(below.operands[1].view, row_broadcast(below.shape, sum.axes)))
    return {};
  const DType dtype = compute_dtype(graph[u.node].dtype);
  if (!is_floating(dtype) || compute_dtype(sum.dtype) != dtype) return {};
  return found;
}

}  // namespace sinter
