// A 16-bit operation becomes one of f32 between casts: kernels compute it in f32 anyway, and casts
// round wherever they stand.
#include "src/graph/eager_rounding.h"

#include <utility>

namespace sinter {
namespace {

bool is_narrow(DType dtype) { return compute_dtype(dtype) != dtype; }

bool rounds(const Node& node) {
  const bool computes = node.op == Op::reduce || is_pointwise(node.op);
  return computes && node.op != Op::cast && node.op != Op::copy && is_narrow(node.dtype);
}

Operand cast_to(Graph& graph, const Operand& operand, DType dtype) {
  Node node;
  node.op = Op::cast;
  node.dtype = dtype;
  node.shape = operand.view.shape;
  node.operands = {operand};
  const View view = dense_view(node.shape);
  return {graph.add(std::move(node)), view};
}

}  // namespace

Graph round_every_result(const Graph& graph) {
  Graph result;
  std::vector<NodeId> moved;
  const auto translate = [&](Operand operand) {
    operand.node = moved[static_cast<std::size_t>(operand.node)];
    return operand;
  };
  for (const Node& source : graph.nodes) {
    Node node = source;
    for (Operand& operand : node.operands) operand = translate(operand);
    if (!rounds(source)) {
      moved.push_back(result.add(std::move(node)));
      if (source.op == Op::input) result.inputs.push_back(moved.back());
      continue;
    }
    node.dtype = compute_dtype(source.dtype);
    for (Operand& operand : node.operands)
      if (is_narrow(result[operand.node].dtype)) operand = cast_to(result, operand, node.dtype);
    const Operand wide{result.add(std::move(node)), dense_view(source.shape)};
    moved.push_back(cast_to(result, wide, source.dtype).node);
  }
  for (const Operand& output : graph.outputs) result.outputs.push_back(translate(output));
  return result;
}

}  // namespace sinter
