// Mathematical identities that make programs cheaper and no less accurate.
// In: a Graph. Out: one that computes the same up to rounding.
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
      const Operand* angle = one_plus_tanh(node);
      for (Operand& operand : node.operands) operand = moved(operand);
      moved_.push_back(angle ? twice_sigmoid(node, moved(*angle)) : result_.add(std::move(node)));
      if (is_input) result_.inputs.push_back(moved_.back());
    }
    for (const Operand& output : source_.outputs) result_.outputs.push_back(moved(output));
    return std::move(result_);
  }

 private:
  Operand moved(const Operand& operand) const {
    return {moved_[static_cast<std::size_t>(operand.node)], operand.view};
  }

  bool is_one(const Operand& operand) const {
    const Node& node = source_[operand.node];
    return node.op == Op::constant && node.value.as(DType::f64).real == 1;
  }

  // The u of 1 + tanh(u), if nobody else needs the tanh.
  const Operand* one_plus_tanh(const Node& node) const {
    if (node.op != Op::add || !is_floating(node.dtype)) return nullptr;
    for (int i = 0; i < 2; ++i) {
      const Operand& other = node.operands[static_cast<std::size_t>(1 - i)];
      const Node& tanh = source_[other.node];
      if (is_one(node.operands[static_cast<std::size_t>(i)]) && tanh.op == Op::tanh &&
          tanh.dtype == node.dtype && uses_[static_cast<std::size_t>(other.node)] == 1 &&
          other.view == dense_view(node.shape))
        return &tanh.operands[0];
    }
    return nullptr;
  }

  // 2 sigmoid(2u): half the instructions of 1 + tanh(u), and no digits lost where that is near 0.
  NodeId twice_sigmoid(const Node& node, const Operand& angle) {
    Node constant;
    constant.op = Op::constant;
    constant.dtype = node.dtype;
    constant.value = Scalar::of(2.0).as(node.dtype);
    const Operand two{result_.add(std::move(constant)), expand(dense_view({}), node.shape)};
    const NodeId doubled = add(Op::mul, node, {two, angle});
    const NodeId sigmoid = add(Op::sigmoid, node, {{doubled, dense_view(node.shape)}});
    return add(Op::mul, node, {two, {sigmoid, dense_view(node.shape)}});
  }

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
  Graph result_;
};

}  // namespace

Graph use_identities(const Graph& graph) { return Identities(graph).run(); }

}  // namespace sinter
