// Graph verification and small queries.
#include "src/graph/graph.h"

#include <algorithm>

#include "src/base/check.h"

namespace sinter {

std::string to_string(const Origin& origin) {
  return origin.scope.empty() ? origin.operation : origin.scope + "/" + origin.operation;
}

std::string_view name_of(const Node& node) {
  return node.op == Op::reduce ? name_of(node.reduce_kind) : name_of(node.op);
}

ById<NodeId, int> count_uses(const Graph& graph) {
  ById<NodeId, int> uses(graph.nodes.size(), 0);
  for_each_operand(graph, [&](const Operand& operand) { ++uses[operand.node]; });
  return uses;
}

bool is_whole(const Graph& graph, const Operand& operand) {
  const Shape& shape = graph[operand.node].shape;
  return operand.view.shape == shape && operand.view == dense_view(shape);
}

Shape kept_shape(const Shape& shape, std::uint32_t axes) {
  Shape kept;
  for (int i = 0; i < shape.rank(); ++i)
    if (!(axes >> i & 1)) kept.push_back(shape[i]);
  return kept;
}

View row_broadcast(const Shape& shape, std::uint32_t axes) {
  View view{shape, Shape::filled(shape.rank(), 0), 0};
  const Strides kept = row_major(kept_shape(shape, axes));
  int k = 0;
  for (int i = 0; i < shape.rank(); ++i)
    if (!(axes >> i & 1)) view.strides[i] = kept[k++];
  return view;
}

namespace {

void verify_window(const View& view) {
  const auto& [first, last, fill] = *view.window;
  const int rank = view.shape.rank();
  SINTER_ASSERT(first.rank() == rank && last.rank() == rank, "{}", to_string(view));
  for (int i = 0; i < rank; ++i)
    SINTER_ASSERT(0 <= first[i] && first[i] <= last[i] && last[i] <= view.shape[i], "{}",
                  to_string(view));
}

void verify_operand(const Graph& graph, NodeId user, const Operand& operand) {
  SINTER_ASSERT(operand.node >= 0 && operand.node < user, "node %{} reads %{}", user, operand.node);
  SINTER_ASSERT(operand.view.shape.rank() == operand.view.strides.rank());
  if (operand.view.window) verify_window(operand.view);
  const Node& source = graph[operand.node];
  const bool may_be_padded =
      user < graph.size() && is_pointwise(graph[user].op) && !is_scalar(source.op);
  SINTER_ASSERT(may_be_padded || !operand.view.is_padded(), "%{} reads %{} padded", user,
                operand.node);
  if (source.op == Op::input) return;  // a view of the caller's buffer, checked where it is bound
  const Extent range = extent(operand.view);
  SINTER_ASSERT(range.first >= 0 && range.last < std::max<std::int64_t>(source.shape.numel(), 1),
                "node %{} reads [{}, {}] of %{}", user, range.first, range.last, operand.node);
}

void verify_node(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  for (const Operand& operand : node.operands) verify_operand(graph, id, operand);
  if (is_pointwise(node.op)) {
    SINTER_ASSERT(static_cast<int>(node.operands.size()) == info(node.op).arity);
    for (const Operand& operand : node.operands)
      SINTER_ASSERT(operand.view.shape == node.shape, "%{} is {}, operand {}", id,
                    to_string(node.shape), to_string(operand.view.shape));
    if (node.op == Op::cast) return;
    std::vector<DType> dtypes;
    for (const Operand& operand : node.operands) dtypes.push_back(graph[operand.node].dtype);
    const OpTypes types = op_types(node.op, dtypes);
    SINTER_ASSERT(types.result == node.dtype, "%{} {}", id, name_of(node.op));
    for (std::size_t i = 0; i < dtypes.size(); ++i)
      SINTER_ASSERT(types.operands[i] == dtypes[i], "%{} {} operand {}", id, name_of(node.op), i);
    SINTER_ASSERT(op_on(node.op, dtypes.back()) == node.op, "%{}: there is no {} of {}", id,
                  name_of(node.op), name_of(dtypes.back()));
  } else if (node.op == Op::reduce) {
    SINTER_ASSERT(node.operands.size() == 1);
    const Operand& operand = node.operands[0];
    SINTER_ASSERT(node.axes < (1u << operand.view.shape.rank()) && node.axes != 0);
    SINTER_ASSERT(kept_shape(operand.view.shape, node.axes) == node.shape);
    SINTER_ASSERT(reduce_dtype(node.reduce_kind, graph[operand.node].dtype) == node.dtype);
  } else if (node.op == Op::contract) {
    SINTER_ASSERT(node.operands.size() == 2);
    const Shape& shape = node.operands[0].view.shape;
    const DType dtype = graph[node.operands[0].node].dtype;
    SINTER_ASSERT(shape == node.operands[1].view.shape, "%{} contracts {} and {}", id,
                  to_string(shape), to_string(node.operands[1].view.shape));
    SINTER_ASSERT(node.axes < (1u << shape.rank()) && node.axes != 0);
    SINTER_ASSERT(kept_shape(shape, node.axes) == node.shape);
    SINTER_ASSERT(is_floating(dtype) && graph[node.operands[1].node].dtype == dtype);
    SINTER_ASSERT(node.dtype == dtype || node.dtype == compute_dtype(dtype));
  } else if (node.op == Op::concat) {
    const int axis = static_cast<int>(node.axes);
    SINTER_ASSERT(axis < node.shape.rank(), "%{} joins along axis {} of {}", id, axis,
                  to_string(node.shape));
    std::int64_t total = 0;
    for (const Operand& operand : node.operands) {
      SINTER_ASSERT(graph[operand.node].dtype == node.dtype);
      Shape expected = node.shape;
      if (operand.view.shape.rank() == expected.rank()) expected[axis] = operand.view.shape[axis];
      SINTER_ASSERT(operand.view.shape == expected, "%{} is {}, operand {}", id,
                    to_string(node.shape), to_string(operand.view.shape));
      total += expected[axis];
    }
    SINTER_ASSERT(total == node.shape[axis]);
  } else if (node.op == Op::number) {
    SINTER_ASSERT(
        graph.numbers.contains(node.number) && node.shape.rank() == 0 && node.operands.empty(),
        "%{} is number {}", id, node.number);
  } else {
    SINTER_ASSERT(node.operands.empty());
  }
}

std::size_t arity_of(const NumberExpr& expr) {
  switch (expr.kind) {
    case NumberExpr::Kind::argument:
    case NumberExpr::Kind::value:
      return 0;
    case NumberExpr::Kind::apply:
      return static_cast<std::size_t>(info(expr.op).arity);
    case NumberExpr::Kind::quotient:
      return 2;
    default:
      return 1;
  }
}

void verify_numbers(const NumberTable& numbers) {
  NumberId id = 0;
  for (const NumberExpr& expr : numbers.exprs()) {
    for (const NumberId operand : expr.used())
      SINTER_ASSERT(operand >= 0 && operand < id, "number #{} uses #{}", id, operand);
    SINTER_ASSERT(expr.used().size() == arity_of(expr), "number #{} uses {} numbers, not {}", id,
                  expr.used().size(), arity_of(expr));
    if (expr.kind == NumberExpr::Kind::argument)
      SINTER_ASSERT(numbers.arguments().contains(expr.index), "number #{} is argument {}", id,
                    expr.index);
    ++id;
  }
  for (const NumberGuard& guard : numbers.guards())
    SINTER_ASSERT(numbers.contains(guard.number), "a guard is on number #{}", guard.number);
}

}  // namespace

void verify(const Graph& graph) {
  verify_numbers(graph.numbers);
  for (NodeId id = 0; id < graph.size(); ++id) verify_node(graph, id);
  for (const Operand& output : graph.outputs) verify_operand(graph, graph.size(), output);
  for (NodeId input : graph.inputs) SINTER_ASSERT(graph[input].op == Op::input);
  for (const Node& node : graph.nodes)
    SINTER_ASSERT(node.origin == kNoOrigin || graph.origins.contains(node.origin));
}

}  // namespace sinter
