// Folding: evaluates operations on constants, and removes operations that forward an operand.
// In: a Graph. Out: a Graph with constants and operands in their place.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "src/graph/evaluate.h"
#include "src/graph/rewriter.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

bool is_number(const Graph& graph, const Operand& operand, double value) {
  const Node& node = graph[operand.node];
  return node.op == Op::constant && node.value.real == value;
}

bool is_given(const Graph& graph, const Operand& operand) {
  return graph[operand.node].op == Op::number;
}

// Operations that are correctly rounded: the host and every kernel compute the same bits.
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

// Whether a kernel may contract this node's product with an addition that reads it into an FMA. A
// multiplication by 1 in between would then change the bits of the sum.
bool may_be_a_product(const Node& node) {
  if (node.op == Op::neg || node.op == Op::copy) return true;  // maybe of a product
  const bool is_one_operation =
      is_exact(node.op) && node.op != Op::mul && node.op != Op::square && node.op != Op::leaky_relu;
  return is_pointwise(node.op) && is_floating(node.dtype) && !is_one_operation;
}

// Whether the graph has sums or products whose order may depend on what else the kernel computes.
bool adds_in_some_order(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    if (node.op == Op::contract) return true;
    if (node.op != Op::reduce || is_arg(node.reduce_kind)) return false;
    const Op combine = info(node.reduce_kind).combine;
    return is_floating(node.dtype) && combine != Op::maximum && combine != Op::minimum;
  });
}

// Finds operations that forward an operand. A number argument is tested for 1 only where that
// affects the result's bits, because the test adds a guard on the argument.
class Forwarding {
 public:
  Forwarding(const Graph& source, GraphBuilder& build, Bits bits)
      : build_(build),
        bits_(bits),
        has_sums_(!source.numbers.empty() && adds_in_some_order(source)) {}

  // The operand that the node forwards unchanged, or nullptr.
  const Operand* operand(const Node& node) {
    const Graph& graph = build_.graph();
    const auto& operands = node.operands;
    switch (node.op) {
      case Op::cast:
        return graph.dtype(operands[0]) == node.dtype ? &operands[0] : nullptr;
      case Op::mul:
        if (is_one(operands[1], operands[0])) return &operands[0];
        return is_one(operands[0], operands[1]) ? &operands[1] : nullptr;
      case Op::div:
      case Op::pow:
        return is_one(operands[1], operands[0]) ? &operands[0] : nullptr;
      default:
        return nullptr;
    }
  }

 private:
  bool is_one(const Operand& factor, const Operand& other) {
    const Graph& graph = build_.graph();
    const Node& node = graph[factor.node];
    if (node.op != Op::number) return is_number(graph, factor, 1);
    if (!is_floating(node.dtype)) return false;
    const bool contracts = bits_ == Bits::free && may_be_a_product(graph[other.node]);
    if (!has_sums_ && !contracts) return false;
    return build_.numbers().is_guarded(node.number, Scalar::of(1.0));
  }

  GraphBuilder& build_;
  Bits bits_;
  bool has_sums_;
};

// The exponent's value decides how a power is computed, so an exponent that is a number argument
// becomes a constant, and the program is guarded on its value.
void specialize_exponent(GraphBuilder& build, Node& node) {
  if (node.op != Op::pow) return;
  Operand& exponent = node.operands[1];
  if (is_given(build.graph(), exponent)) {
    const Node number = build.graph()[exponent.node];
    exponent = build.constant(build.numbers().specialized(number.number), number.dtype,
                              exponent.view.shape);
  }
  // 1 to any power is 1: no work.
  if (const Operand base = node.operands[0]; is_given(build.graph(), base)) {
    const Node number = build.graph()[base.node];
    const Scalar one = is_floating(number.dtype) ? Scalar::of(1.0) : Scalar::of(std::int64_t{1});
    if (build.numbers().is_guarded(number.number, one))
      node.operands[0] = build.constant(one, number.dtype, base.view.shape);
  }
}

// The value of a pointwise node whose operands are all scalars, at least one a number argument.
std::optional<NumberId> given_value(GraphBuilder& build, const Node& node, Bits bits) {
  const Graph& graph = build.graph();
  if (!is_pointwise(node.op) || graph.numbers.empty()) return std::nullopt;
  if (bits == Bits::kept && !is_exact(node.op) && is_floating(node.dtype)) return std::nullopt;
  bool any_given = false;
  for (const Operand& operand : node.operands) {
    if (!is_scalar(graph[operand.node].op)) return std::nullopt;
    any_given |= is_given(graph, operand);
  }
  if (!any_given) return std::nullopt;
  NumberTable& numbers = build.numbers();
  NumberExpr expr{
      .kind = NumberExpr::Kind::apply, .op = node.op, .dtype = graph.dtype(node.operands.back())};
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Node& source = graph[node.operands[i].node];
    expr.operands[i] = source.op == Op::number ? source.number : numbers.value(source.value);
  }
  if (node.op == Op::cast || node.op == Op::copy) return numbers.cast(expr.operands[0], node.dtype);
  return numbers.cast(numbers.add(expr), node.dtype);
}

// The value of a pointwise node whose operands are all constants.
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

// The value of a node over zero elements: a reduction's identity, or any number if the result is
// empty too. Kernels thus never iterate over an empty space.
std::optional<Scalar> value_of_nothing(const Node& node) {
  if (is_reduction(node.op) && node.operands[0].view.shape.numel() == 0)
    return identity_of(node.reduce_kind, node.dtype);
  const bool is_computed = is_pointwise(node.op) || node.op == Op::concat;
  if (is_computed && node.shape.numel() == 0) return Scalar::of(std::int64_t{0});
  return std::nullopt;
}

// Nodes that every reader reads whole. Others are not forwarded: a view of a view may need a copy.
ById<NodeId, char> nodes_read_whole(const Graph& graph) {
  ById<NodeId, char> whole(graph.nodes.size(), 1);
  for_each_operand(graph, [&](const Operand& operand) {
    if (!is_whole(graph, operand)) whole[operand.node] = 0;
  });
  return whole;
}

// Whether every node would stay unchanged. Does not read number arguments: that would restrict the
// program to calls with the same values.
bool has_nothing_to_fold(Graph& graph, const ById<NodeId, char>& read_whole, Bits bits) {
  if (!graph.numbers.empty()) return false;
  GraphBuilder build(graph);
  Forwarding forwarding(graph, build, bits);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (value_of_nothing(node) || constant_value(graph, node, bits)) return false;
    if (read_whole[id] && forwarding.operand(node)) return false;
  }
  return true;
}

Graph fold(Graph graph, Bits bits) {
  const ById<NodeId, char> read_whole = nodes_read_whole(graph);
  if (has_nothing_to_fold(graph, read_whole, bits)) return graph;
  GraphRewriter rewriter(graph);
  GraphBuilder& build = rewriter.build();
  Forwarding forwarding(graph, build, bits);
  rewriter.run([&](NodeId id) -> std::optional<Operand> {
    Node node = rewriter.moved_node(id);
    specialize_exponent(build, node);
    auto value = value_of_nothing(node);
    if (!value) value = constant_value(build.graph(), node, bits);
    if (value) return build.constant(value->as(node.dtype), node.dtype, node.shape);
    if (const auto number = given_value(build, node, bits))
      return build.number(*number, node.dtype, node.shape);
    if (read_whole[id])
      if (const Operand* operand = forwarding.operand(node); operand && !operand->view.is_padded())
        return *operand;
    return build.add(std::move(node));
  });
  return rewriter.finish();
}

}  // namespace

Graph fold_constants(Graph graph) { return fold(std::move(graph), Bits::kept); }
Graph fold_functions(Graph graph) { return fold(std::move(graph), Bits::free); }

}  // namespace sinter
