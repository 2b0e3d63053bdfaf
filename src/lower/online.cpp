// Finds online sums, and emits an update with one exponential per element: only the sum with the
// smaller maximum is rescaled.
#include "src/lower/online.h"

#include <limits>

#include "src/fuse/online.h"

namespace sinter {

using tile::Builder;
using tile::ValueId;

std::map<NodeId, NodeId> online_sums(const Plan& plan, GroupId group) {
  const auto inside = [&](NodeId id) { return plan.group_of[id] == group; };
  std::map<NodeId, NodeId> sums;
  for (NodeId id : plan.groups[group].nodes) {
    const auto nodes = online_nodes(plan.graph, id);
    if (nodes && inside(nodes->max) && inside(nodes->below) && inside(nodes->power))
      sums.emplace(nodes->max, id);
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
  // A finite element makes the sum at least 1: a sum of 0 means that all elements were -inf.
  const ValueId none = b.pointwise(Op::eq, {lanes.sum, b.real(0, dtype)});
  const ValueId least = b.real(-std::numeric_limits<double>::infinity(), dtype);
  const ValueId tops = b.pointwise(Op::where, {none, least, lanes.top});
  const ValueId top = along_columns ? b.reduce(ReduceKind::max, std::span(&tops, 1))[0] : tops;
  // inf - inf gives NaN, as two passes would.
  const ValueId scale = b.pointwise(Op::exp, {b.pointwise(Op::sub, {tops, top})});
  const ValueId sums = b.pointwise(Op::mul, {lanes.sum, scale});
  return {top, along_columns ? b.reduce(ReduceKind::sum, std::span(&sums, 1))[0] : sums};
}

}  // namespace sinter
