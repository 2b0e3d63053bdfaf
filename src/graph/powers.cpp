// Powers with constant exponents as products, reciprocals and roots: pow(x, 2) is x * x.
// In: a Graph whose constants are folded. Out: one that has pow's special cases still (C's: a zero
// or an infinity of either sign, NaN), and |n| roundings at most in the place of pow(x, n)'s one.
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "src/graph/simplify.h"

namespace sinter {
namespace {

// Products of more factors lose more digits than pow does. A reciprocal's error is taken to the
// power as well, so there are fewer of them; it comes first, since x^n may overflow where x^-n is
// not 0.
constexpr int kMostFactors = 8;
constexpr int kMostReciprocals = 4;

class Powers {
 public:
  explicit Powers(const Graph& source) : source_(source) {}

  Graph run() {
    for (NodeId id = 0; id < source_.size(); ++id) {
      Node node = source_[id];
      const bool is_input = node.op == Op::input;
      for (Operand& operand : node.operands) operand.node = moved(operand.node);
      const std::optional<NodeId> power = node.op == Op::pow ? expanded(node) : std::nullopt;
      moved_.push_back(power ? *power : result_.add(std::move(node)));
      if (is_input) result_.inputs.push_back(moved_.back());
    }
    for (const Operand& output : source_.outputs)
      result_.outputs.push_back({moved(output.node), output.view});
    return std::move(result_);
  }

 private:
  NodeId moved(NodeId id) const { return moved_[static_cast<std::size_t>(id)]; }

  // What stands for pow(x, exponent), whose operands are those of the result.
  std::optional<NodeId> expanded(const Node& pow) {
    const Node& exponent = result_[pow.operands[1].node];
    if (exponent.op != Op::constant) return std::nullopt;
    const double n = exponent.value.as(DType::f64).real;
    const Operand x = pow.operands[0];
    if (n >= 2 && n <= kMostFactors && n == static_cast<int>(n))
      return product(x, static_cast<int>(n), pow).node;
    if (!is_floating(pow.dtype)) return std::nullopt;
    if (n <= -1 && n >= -kMostReciprocals && n == static_cast<int>(n))
      return product(add(Op::reciprocal, pow, {x}), static_cast<int>(-n), pow).node;
    if (n == 0.5) return root(Op::sqrt, x, kInfinity, pow);
    if (n == -0.5) return root(Op::rsqrt, x, 0, pow);
    return std::nullopt;
  }

  // x^n from squares. Integers wrap as they do in pow.
  Operand product(const Operand& x, int n, const Node& like) {
    if (n == 1) return x;
    if (n % 2 == 0) return add(Op::square, like, {product(x, n / 2, like)});
    return add(Op::mul, like, {product(x, n - 1, like), x});
  }

  // pow knows no negative zero among the results here, and gives a number for -inf.
  NodeId root(Op op, const Operand& x, double of_minus_infinity, const Node& like) {
    const Operand positive = add(Op::abs, like, {add(op, like, {x})});
    Node below;
    below.op = Op::eq;
    below.dtype = DType::boolean;
    below.shape = like.shape;
    below.operands = {x, number(-kInfinity, like)};
    const Operand is_below = whole(result_.add(std::move(below)));
    return add(Op::where, like, {is_below, number(of_minus_infinity, like), positive}).node;
  }

  Operand number(double value, const Node& like) {
    Node node;
    node.op = Op::constant;
    node.dtype = like.dtype;
    node.value = Scalar::of(value);
    return {result_.add(std::move(node)), expand(dense_view({}), like.shape)};
  }
  Operand add(Op op, const Node& like, std::vector<Operand> operands) {
    Node node;
    node.op = op;
    node.dtype = like.dtype;
    node.shape = like.shape;
    node.operands = std::move(operands);
    return whole(result_.add(std::move(node)));
  }
  Operand whole(NodeId id) const { return {id, dense_view(result_[id].shape)}; }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Graph& source_;
  std::vector<NodeId> moved_;
  Graph result_;
};

}  // namespace

Graph expand_powers(const Graph& graph) { return Powers(graph).run(); }

}  // namespace sinter
