// Folding: what can be computed now, and operations that pass an operand on.
// In: a Graph. Out: one with constants in their place.
#include <algorithm>
#include <array>
#include <optional>

#include "src/graph/rewriter.h"
#include "src/graph/scalar_math.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

template <typename T>
T scalar_to(const Scalar& s) {
  if constexpr (scalar::kIsReal<T>)
    return static_cast<T>(s.real);
  else if constexpr (std::is_same_v<T, bool>)
    return s.integer != 0;
  else
    return T(s.integer);
}

template <typename T>
Scalar scalar_from(T value) {
  if constexpr (scalar::kIsReal<T>)
    return Scalar::of(static_cast<double>(value));
  else if constexpr (std::is_same_v<T, bool>)
    return Scalar::of(static_cast<std::int64_t>(value));
  else
    return Scalar::of(static_cast<std::int64_t>(value.value));
}

template <typename T>
std::optional<Scalar> evaluate_as(Op op, const std::array<Scalar, 3>& v) {
  std::optional<Scalar> result;
  scalar::visit_pointwise<T>(op, [&]<typename F>(F f) {
    if constexpr (std::is_invocable_v<F, T, T, T>)
      result = scalar_from(f(scalar_to<T>(v[0]), scalar_to<T>(v[1]), scalar_to<T>(v[2])));
    else
      result = scalar_from(f(scalar_to<bool>(v[0]), scalar_to<T>(v[1]), scalar_to<T>(v[2])));
  });
  return result;
}

std::optional<Scalar> evaluate(Op op, DType dtype, const std::array<Scalar, 3>& values) {
  switch (compute_dtype(dtype)) {
    case DType::f32:
      return evaluate_as<float>(op, values);
    case DType::f64:
      return evaluate_as<double>(op, values);
    case DType::i32:
      return evaluate_as<scalar::I32>(op, values);
    case DType::i64:
      return evaluate_as<scalar::I64>(op, values);
    default:
      return evaluate_as<bool>(op, values);
  }
}

bool is_number(const Graph& graph, const Operand& operand, double value) {
  const Node& node = graph[operand.node];
  return node.op == Op::constant && node.value.real == value;
}

// The operand whose value the node simply passes on.
const Operand* forwarded(const Graph& graph, const Node& node) {
  auto same_type = [&](const Operand& o) { return graph[o.node].dtype == node.dtype; };
  switch (node.op) {
    case Op::cast:
      return same_type(node.operands[0]) ? &node.operands[0] : nullptr;
    case Op::mul:
      if (is_number(graph, node.operands[1], 1)) return &node.operands[0];
      return is_number(graph, node.operands[0], 1) ? &node.operands[1] : nullptr;
    case Op::div:
    case Op::pow:
      return is_number(graph, node.operands[1], 1) ? &node.operands[0] : nullptr;
    default:
      return nullptr;
  }
}

// Operations whose result is the exact one, rounded once: everybody computes the same bits.
bool is_exact(Op op) {
  switch (info(op).rule) {
    case DTypeRule::Compare:
    case DTypeRule::Logical:
    case DTypeRule::Test:
    case DTypeRule::Select:
      return true;
    default:
      break;
  }
  switch (op) {
    case Op::cast:
    case Op::copy:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::fma:
    case Op::maximum:
    case Op::minimum:
    case Op::clamp:
    case Op::neg:
    case Op::abs:
    case Op::sign:
    case Op::square:
    case Op::reciprocal:
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
    case Op::sqrt:
    case Op::relu:
    case Op::leaky_relu:
      return true;
    default:
      return false;
  }
}

// The value of a pointwise node all of whose operands are numbers.
std::optional<Scalar> constant_value(const Graph& graph, const Node& node, Bits bits) {
  if (!is_pointwise(node.op)) return std::nullopt;
  // pow(NaN, 0) and pow(1, NaN) are 1, too.
  if (node.op == Op::pow &&
      (is_number(graph, node.operands[1], 0) || is_number(graph, node.operands[0], 1)))
    return Scalar::of(std::int64_t{1});
  if (bits == Bits::kept && !is_exact(node.op) && is_floating(node.dtype)) return std::nullopt;
  std::array<Scalar, 3> values;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Node& source = graph[node.operands[i].node];
    if (source.op != Op::constant) return std::nullopt;
    values[i] = source.value;
  }
  if (node.op == Op::cast || node.op == Op::copy) return values[0].as(node.dtype);
  const DType operand_dtype = graph[node.operands.back().node].dtype;
  return evaluate(node.op, operand_dtype, values);
}

// The value of what is computed of no elements: a reduction's identity, and any number where the
// result has no elements either. Kernels thus never walk an empty space.
std::optional<Scalar> value_of_nothing(const Node& node) {
  if (node.op == Op::reduce && node.operands[0].view.shape.numel() == 0)
    return identity_of(node.reduce_kind, node.dtype);
  const bool is_computed = is_pointwise(node.op) || node.op == Op::concat;
  if (is_computed && node.shape.numel() == 0) return Scalar::of(std::int64_t{0});
  return std::nullopt;
}

// Nodes that every reader sees whole. Others are not forwarded: a view of a view may need a copy.
ById<NodeId, char> nodes_read_whole(const Graph& graph) {
  ById<NodeId, char> whole(graph.nodes.size(), 1);
  for_each_operand(graph, [&](const Operand& operand) {
    if (!is_whole(graph, operand)) whole[operand.node] = 0;
  });
  return whole;
}

Graph fold(const Graph& graph, Bits bits) {
  const ById<NodeId, char> read_whole = nodes_read_whole(graph);
  return rewritten(graph, [&](GraphRewriter& rewriter, NodeId id) -> std::optional<Operand> {
    Node node = rewriter.moved_node(id);
    auto value = value_of_nothing(node);
    if (!value) value = constant_value(rewriter.result(), node, bits);
    if (value) return rewriter.build().constant(value->as(node.dtype), node.dtype, node.shape);
    if (read_whole[id])
      if (const Operand* operand = forwarded(rewriter.result(), node)) return *operand;
    return rewriter.build().add(std::move(node));
  });
}

}  // namespace

Graph fold_constants(const Graph& graph) { return fold(graph, Bits::kept); }
Graph fold_functions(const Graph& graph) { return fold(graph, Bits::free); }

}  // namespace sinter
