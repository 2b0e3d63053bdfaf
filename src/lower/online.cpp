// The pattern, and an update that takes one exponential an element: of two numbers only the lesser
// has to be scaled.
#include "src/lower/online.h"

#include <limits>

namespace sinter {

using tile::Builder;
using tile::ValueId;

std::map<NodeId, NodeId> online_sums(const Plan& plan, int group) {
  const auto member = [&](NodeId id, Op op) {
    return plan.group_of[static_cast<std::size_t>(id)] == group && plan.graph[id].op == op;
  };
  std::map<NodeId, NodeId> sums;
  for (NodeId id : plan.groups[static_cast<std::size_t>(group)].nodes) {
    const Node& sum = plan.graph[id];
    if (sum.op != Op::reduce || sum.reduce_kind != ReduceKind::sum) continue;
    if (!member(sum.operands[0].node, Op::exp)) continue;
    const Node& power = plan.graph[sum.operands[0].node];
    if (!member(power.operands[0].node, Op::sub)) continue;
    const Node& below = plan.graph[power.operands[0].node];
    if (!member(below.operands[1].node, Op::reduce)) continue;
    const Node& top = plan.graph[below.operands[1].node];
    const Operand& u = below.operands[0];
    if (top.reduce_kind != ReduceKind::max || top.operands[0].node != u.node ||
        !same_access(top.operands[0].view, u.view))
      continue;
    const DType dtype = compute_dtype(plan.graph[u.node].dtype);
    if (is_floating(dtype) && compute_dtype(sum.dtype) == dtype)
      sums.emplace(below.operands[1].node, id);
  }
  return sums;
}

OnlineSum online_start(Builder& b, DType dtype) {
  const double least = dtype == DType::f64
                           ? std::numeric_limits<double>::lowest()
                           : static_cast<double>(std::numeric_limits<float>::lowest());
  return {b.real(least, dtype), b.real(0, dtype)};
}

OnlineSum online_element(Builder& b, ValueId u) { return {u, b.real(1, b[u].dtype)}; }

OnlineSum online_join(Builder& b, const OnlineSum& left, const OnlineSum& right) {
  const ValueId distance = b.pointwise(Op::abs, {b.pointwise(Op::sub, {right.top, left.top})});
  const ValueId scale = b.pointwise(Op::exp, {b.pointwise(Op::neg, {distance})});
  const ValueId greater = b.pointwise(Op::gt, {right.top, left.top});
  const ValueId scaled_left = b.pointwise(Op::fma, {left.sum, scale, right.sum});
  const ValueId scaled_right = b.pointwise(Op::fma, {right.sum, scale, left.sum});
  return {b.pointwise(Op::maximum, {left.top, right.top}),
          b.pointwise(Op::where, {greater, scaled_left, scaled_right})};
}

OnlineSum online_total(Builder& b, const OnlineSum& lanes, bool along_columns) {
  const DType dtype = b[lanes.top].dtype;
  // A finite element counts 1 at least: without any, all were -inf.
  const ValueId none = b.pointwise(Op::eq, {lanes.sum, b.real(0, dtype)});
  const ValueId least = b.real(-std::numeric_limits<double>::infinity(), dtype);
  const ValueId tops = b.pointwise(Op::where, {none, least, lanes.top});
  const ValueId top = along_columns ? b.reduce(ReduceKind::max, std::span(&tops, 1))[0] : tops;
  // inf - inf: rows that two passes make NaN.
  const ValueId scale = b.pointwise(Op::exp, {b.pointwise(Op::sub, {tops, top})});
  const ValueId sums = b.pointwise(Op::mul, {lanes.sum, scale});
  return {top, along_columns ? b.reduce(ReduceKind::sum, std::span(&sums, 1))[0] : sums};
}

}  // namespace sinter
