// Mathematical identities that make programs cheaper and no less accurate.
// In: a Graph. Out: a Graph that computes the same values up to rounding.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "src/graph/rewriter.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

class Identities {
 public:
  explicit Identities(const Graph& source)
      : source_(source), rewriter_(source), uses_(count_uses(source)) {}

  Graph run() {
    rewriter_.run([this](NodeId id) -> std::optional<Operand> {
      if (const Operand* angle = one_plus_tanh(source_[id])) return twice_sigmoid(id, *angle);
      return times_sigmoid(source_[id]);
    });
    return rewriter_.finish();
  }

 private:
  GraphBuilder& build() { return rewriter_.build(); }

  std::optional<double> constant(const Operand& operand) const {
    const Node& node = source_[operand.node];
    if (node.op != Op::constant) return std::nullopt;
    return node.value.as(DType::f64).real;
  }
  // Whether the operand is 1. For a number argument, the answer for the traced call, with a guard
  // that restricts the program to calls with the same answer.
  bool is_one(const Operand& operand) {
    const Node& node = source_[operand.node];
    if (node.op != Op::number) return constant(operand) == 1.0;
    return build().numbers().is_guarded(node.number, Scalar::of(1.0));
  }
  bool is_used_once(const Operand& operand) const { return uses_[operand.node] == 1; }

  // The u of 1 + tanh(u), if the tanh has no other user.
  const Operand* one_plus_tanh(const Node& node) {
    if (node.op != Op::add || !is_floating(node.dtype)) return nullptr;
    for (std::size_t i = 0; i < 2; ++i) {
      const Operand& other = node.operands[1 - i];
      const Node& tanh = source_[other.node];
      if (tanh.op == Op::tanh && tanh.dtype == node.dtype && is_used_once(other) &&
          other.view == dense_view(node.shape) && is_one(node.operands[i]))
        return &tanh.operands[0];
    }
    return nullptr;
  }

  // 2 sigmoid(2u): half the instructions of 1 + tanh(u), and no cancellation where that is near 0.
  Operand twice_sigmoid(NodeId id, const Operand& angle) {
    std::optional<Operand> doubled = scaled(angle, 2);
    if (!doubled) doubled = times(rewriter_.moved(angle), 2);
    const Operand sigmoid = build().pointwise(Op::sigmoid, {*doubled});
    sigmoids_[id] = sigmoid;
    return times(sigmoid, 2);
  }

  // a * (2 sigmoid): folds the 2 into a constant factor of a, if there is one.
  std::optional<Operand> times_sigmoid(const Node& node) {
    if (node.op != Op::mul) return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i) {
      const Operand& twice = node.operands[i];
      const auto sigmoid = sigmoids_.find(twice.node);
      if (sigmoid == sigmoids_.end() || !is_used_once(twice) || !is_whole(source_, twice)) continue;
      // Only while the factor stays at most 1: scaling a up could overflow to infinity, and
      // infinity * 0 is NaN where the sigmoid is 0.
      if (const std::optional<Operand> a = scaled(node.operands[1 - i], 2, 1))
        return build().pointwise(Op::mul, {*a, sigmoid->second});
    }
    return std::nullopt;
  }

  // The product with its constant factor scaled by `power`, a power of two, which is exact. Nothing
  // if the factor's magnitude would exceed `most`.
  std::optional<Operand> scaled(const Operand& product, double power,
                                double most = std::numeric_limits<double>::infinity(),
                                int depth = 0) {
    constexpr int kDeepest = 4;
    const Node& node = source_[product.node];
    if (node.op != Op::mul || !is_floating(node.dtype) || !is_used_once(product) ||
        !is_whole(source_, product) || depth == kDeepest)
      return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i)
      if (source_[node.operands[i].node].op == Op::number)
        return scaled_number(node.operands[i], rewriter_.moved(node.operands[1 - i]), power, most);
    for (std::size_t i = 0; i < 2; ++i)
      if (const std::optional<double> factor = constant(node.operands[i])) {
        if (std::abs(*factor * power) > most) return std::nullopt;
        const Operand other = rewriter_.moved(node.operands[1 - i]);
        return *factor * power == 1 ? other : times(other, *factor * power);
      }
    for (std::size_t i = 0; i < 2; ++i)
      if (const std::optional<Operand> part = scaled(node.operands[i], power, most, depth + 1))
        return build().pointwise(Op::mul, {*part, rewriter_.moved(node.operands[1 - i])});
    return std::nullopt;
  }

  // scaled() for a factor that is a number argument. Guards restrict the program to calls that
  // take the same branches here.
  std::optional<Operand> scaled_number(const Operand& given, const Operand& other, double power,
                                       double most) {
    const Node& node = source_[given.node];
    NumberTable& numbers = build().numbers();
    const auto wide = numbers.cast(node.number, DType::f64);
    const auto factor =
        numbers.apply(Op::mul, DType::f64, {wide, numbers.value(Scalar::of(power))});
    const auto beyond = numbers.apply(
        Op::gt, DType::f64,
        {numbers.apply(Op::abs, DType::f64, {factor}), numbers.value(Scalar::of(most))});
    if (numbers.is_guarded(beyond, Scalar::of(std::int64_t{1}))) return std::nullopt;
    if (numbers.is_guarded(factor, Scalar::of(1.0))) return other;
    const DType dtype = build().graph().dtype(other);
    const Operand number =
        build().number(numbers.cast(factor, compute_dtype(dtype)), dtype, other.view.shape);
    return build().pointwise(Op::mul, {number, other});
  }

  Operand times(const Operand& a, double factor) {
    return build().pointwise(Op::mul, {build().number_like(a, factor), a});
  }

  const Graph& source_;
  GraphRewriter rewriter_;
  const ById<NodeId, int> uses_;
  std::map<NodeId, Operand> sigmoids_;  // by source node of 1 + tanh(u)
};

// Without 1 + tanh(u), or a number in place of the 1, no identity applies.
bool may_have_one_plus_tanh(const Graph& graph) {
  const auto op_of = [&](const Operand& operand) { return graph[operand.node].op; };
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    if (node.op != Op::add) return false;
    const Op first = op_of(node.operands[0]);
    const Op second = op_of(node.operands[1]);
    return (first == Op::tanh && is_scalar(second)) || (second == Op::tanh && is_scalar(first));
  });
}

}  // namespace

Graph use_identities(Graph graph) {
  if (!may_have_one_plus_tanh(graph)) return graph;
  return Identities(graph).run();
}

}  // namespace sinter
