// materialize_leaves.
#include "src/fuse/prepare.h"

namespace sinter {

Graph materialize_leaves(const Graph& graph) {
  Graph result;
  std::vector<NodeId> moved;
  // No kernel can walk an empty range, so an empty constant stands in for it.
  auto nothing = [&](DType dtype, const Shape& shape) -> Operand {
    Node zero;
    zero.op = Op::constant;
    zero.dtype = dtype;
    zero.value = Scalar::of(std::int64_t{0}).as(dtype);
    return {result.add(std::move(zero)), expand(dense_view({}), shape)};
  };
  auto copy_of = [&](Operand operand) -> Operand {
    const Node& source = result[operand.node];
    if (source.op == Op::iota && operand.view.shape.numel() == 0)
      operand = nothing(source.dtype, operand.view.shape);
    Node copy;
    copy.op = Op::copy;
    copy.dtype = result[operand.node].dtype;
    copy.shape = operand.view.shape;
    copy.operands = {operand};
    const Shape shape = copy.shape;
    return {result.add(std::move(copy)), dense_view(shape)};
  };
  std::vector<int> uses(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes)
    for (const Operand& operand : node.operands) ++uses[static_cast<std::size_t>(operand.node)];
  for (const Operand& output : graph.outputs) ++uses[static_cast<std::size_t>(output.node)];

  for (NodeId id = 0; id < graph.size(); ++id) {
    Node node = graph[id];
    for (Operand& operand : node.operands) {
      const Node& source = graph[operand.node];
      const bool in_place = uses[static_cast<std::size_t>(operand.node)] == 1 &&
                            (is_pointwise(source.op) || source.op == Op::reduce) &&
                            operand.view == dense_view(source.shape);
      operand.node = moved[static_cast<std::size_t>(operand.node)];
      if (node.op == Op::concat && !in_place) operand = copy_of(operand);
    }
    const bool is_input = node.op == Op::input;
    moved.push_back(result.add(std::move(node)));
    if (is_input) result.inputs.push_back(moved.back());
  }
  for (Operand output : graph.outputs) {
    const Op op = graph[output.node].op;
    output.node = moved[static_cast<std::size_t>(output.node)];
    result.outputs.push_back(op == Op::constant || op == Op::iota ? copy_of(output) : output);
  }
  return result;
}

}  // namespace sinter
