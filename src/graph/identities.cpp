// Mathematical identities that make programs cheaper and no less accurate.
// In: a Graph. Out: one that computes the same up to rounding.
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "src/graph/simplify.h"

namespace sinter {
namespace {

class Identities {
 public:
  explicit Identities(const Graph& source) : source_(source), uses_(source.nodes.size(), 0) {
    for (const Node& node : source.nodes)
      for (const Operand& operand : node.operands) ++uses_[static_cast<std::size_t>(operand.node)];
    for (const Operand& output : source.outputs) ++uses_[static_cast<std::size_t>(output.node)];
  }

  Graph run() {
    for (NodeId id = 0; id < source_.size(); ++id) {
      Node node = source_[id];
      const bool is_input = node.op == Op::input;
      if (const Operand* angle = one_plus_tanh(node)) {
        moved_.push_back(twice_sigmoid(id, *angle));
        continue;
      }
      if (const std::optional<NodeId> product = times_sigmoid(node)) {
        moved_.push_back(*product);
        continue;
      }
      for (Operand& operand : node.operands) operand = moved(operand);
      moved_.push_back(result_.add(std::move(node)));
      if (is_input) result_.inputs.push_back(moved_.back());
    }
    for (const Operand& output : source_.outputs) result_.outputs.push_back(moved(output));
    return std::move(result_);
  }

 private:
  Operand moved(const Operand& operand) const {
    return {moved_[static_cast<std::size_t>(operand.node)], operand.view};
  }

  std::optional<double> constant(const Operand& operand) const {
    const Node& node = source_[operand.node];
    if (node.op != Op::constant) return std::nullopt;
    return node.value.as(DType::f64).real;
  }
  bool is_used_once(const Operand& operand) const {
    return uses_[static_cast<std::size_t>(operand.node)] == 1;
  }
  bool is_whole(const Operand& operand) const {
    return operand.view == dense_view(source_[operand.node].shape);
  }

  // The u of 1 + tanh(u), if nobody else needs the tanh.
  const Operand* one_plus_tanh(const Node& node) const {
    if (node.op != Op::add || !is_floating(node.dtype)) return nullptr;
    for (int i = 0; i < 2; ++i) {
      const Operand& other = node.operands[static_cast<std::size_t>(1 - i)];
      const Node& tanh = source_[other.node];
      if (constant(node.operands[static_cast<std::size_t>(i)]) == 1.0 && tanh.op == Op::tanh &&
          tanh.dtype == node.dtype && is_used_once(other) && other.view == dense_view(node.shape))
        return &tanh.operands[0];
    }
    return nullptr;
  }

  // 2 sigmoid(2u): half the instructions of 1 + tanh(u), and no digits lost where that is near 0.
  NodeId twice_sigmoid(NodeId id, const Operand& angle) {
    const Node& node = source_[id];
    std::optional<Operand> doubled = scaled(angle, 2);
    if (!doubled) doubled = times(number(node, 2), moved(angle), node);
    const Operand sigmoid = whole(add(Op::sigmoid, node, {*doubled}));
    sigmoids_[id] = sigmoid;
    return times(number(node, 2), sigmoid, node).node;
  }

  // a (2 sigmoid): the 2 goes to a constant factor of a, where there is one.
  std::optional<NodeId> times_sigmoid(const Node& node) {
    if (node.op != Op::mul) return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i) {
      const Operand& twice = node.operands[i];
      const auto sigmoid = sigmoids_.find(twice.node);
      if (sigmoid == sigmoids_.end() || !is_used_once(twice) || !is_whole(twice)) continue;
      // Not beyond 1: with a huge a the product would be infinite where the sigmoid is 0.
      if (const std::optional<Operand> a = scaled(node.operands[1 - i], 2, 1))
        return times(*a, sigmoid->second, node).node;
    }
    return std::nullopt;
  }

  // A product whose constant factor takes up `power`, a power of two: no digits change. Only if the
  // factor is then no more than `most`.
  std::optional<Operand> scaled(const Operand& product, double power,
                                double most = std::numeric_limits<double>::infinity(),
                                int depth = 0) {
    constexpr int kDeepest = 4;
    const Node& node = source_[product.node];
    if (node.op != Op::mul || !is_floating(node.dtype) || !is_used_once(product) ||
        !is_whole(product) || depth == kDeepest)
      return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i)
      if (const std::optional<double> factor = constant(node.operands[i])) {
        if (std::abs(*factor * power) > most) return std::nullopt;
        const Operand other = moved(node.operands[1 - i]);
        const bool vanishes =
            *factor * power == 1 && source_[node.operands[1 - i].node].dtype == node.dtype;
        return vanishes ? other : times(number(node, *factor * power), other, node);
      }
    for (std::size_t i = 0; i < 2; ++i)
      if (const std::optional<Operand> part = scaled(node.operands[i], power, most, depth + 1))
        return times(*part, moved(node.operands[1 - i]), node);
    return std::nullopt;
  }

  // Not rounded to 16 bits: numbers in a program are not, either.
  Operand number(const Node& like, double value) {
    Node node;
    node.op = Op::constant;
    node.dtype = like.dtype;
    node.value = Scalar::of(value).as(like.dtype == DType::f64 ? DType::f64 : DType::f32);
    return {result_.add(std::move(node)), expand(dense_view({}), like.shape)};
  }
  Operand times(const Operand& a, const Operand& b, const Node& like) {
    return whole(add(Op::mul, like, {a, b}));
  }
  Operand whole(NodeId id) const { return {id, dense_view(result_[id].shape)}; }

  NodeId add(Op op, const Node& like, std::vector<Operand> operands) {
    Node node;
    node.op = op;
    node.dtype = like.dtype;
    node.shape = like.shape;
    node.operands = std::move(operands);
    return result_.add(std::move(node));
  }

  const Graph& source_;
  std::vector<int> uses_;
  std::vector<NodeId> moved_;
  std::map<NodeId, Operand> sigmoids_;  // by the source's 1 + tanh
  Graph result_;
};

}  // namespace

Graph use_identities(const Graph& graph) { return Identities(graph).run(); }

}  // namespace sinter
