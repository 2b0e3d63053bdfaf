// Maxima of monotonic functions of a value whose maximum is already computed: max(exp(u)) is
// exp(max(u)). In: a Graph. Out: one with fewer reductions; the maximum of a softmax needs none.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "src/graph/rewriter.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

class Maxima {
 public:
  explicit Maxima(const Graph& source) : source_(source), rewriter_(source) {}

  Graph run() {
    rewriter_.run([this](NodeId id) -> std::optional<Operand> {
      const Node& node = source_[id];
      if (!is_maximum(node)) return std::nullopt;
      const NodeId y = node.operands[0].node;
      std::optional<Operand> known = maximum_of(y, node, 0);
      maxima_[{y, node.axes}] = id;
      return known;
    });
    return rewriter_.finish();
  }

 private:
  bool is_whole(const Operand& operand) const { return sinter::is_whole(source_, operand); }

  bool is_maximum(const Node& node) const {
    return node.op == Op::reduce && node.reduce_kind == ReduceKind::max &&
           is_floating(node.dtype) && is_whole(node.operands[0]);
  }

  // The maximum of node y over the axes of `max`. Every rule here preserves NaNs and adds none.
  std::optional<Operand> maximum_of(NodeId y, const Node& max, int depth) {
    constexpr int kDeepest = 8;
    if (const auto it = maxima_.find({y, max.axes}); it != maxima_.end())
      return rewriter_.moved(it->second);
    const Node& node = source_[y];
    if (depth == kDeepest || node.operands.empty() || !is_whole(node.operands[0]))
      return std::nullopt;
    const Operand& u = node.operands[0];
    const bool is_cast =
        node.op == Op::cast && is_floating(node.dtype) && is_floating(source_[u.node].dtype);
    const bool below = is_below_maximum(node, max.axes);
    const bool part = node.op == Op::mul && is_reciprocal_sum(node.operands[1], u, max);
    if (node.op != Op::exp && !is_cast && !below && !part) return std::nullopt;
    const std::optional<Operand> top = maximum_of(u.node, max, depth + 1);
    if (!top) return std::nullopt;
    GraphBuilder& build = rewriter_.build();
    if (is_cast) return build.cast(*top, node.dtype);
    if (below) return build.pointwise(Op::sub, {*top, *top});
    if (part) return build.pointwise(Op::mul, {*top, rewriter_.moved(node.operands[1].node)});
    return build.pointwise(Op::exp, {*top});
  }

  // u - max(u): at most 0; all NaN if max(u) is infinite or NaN.
  bool is_below_maximum(const Node& node, std::uint32_t axes) const {
    if (node.op != Op::sub || !is_whole(node.operands[0]) || !is_of_rows(node.operands[1], axes))
      return false;
    const auto it = maxima_.find({node.operands[0].node, axes});
    return it != maxima_.end() && it->second == node.operands[1].node;
  }

  // 1 / sum(u) where u is exp(v - max(v)): the sum is at least 1, or NaN, so multiplying by its
  // reciprocal turns no 0 into NaN.
  bool is_reciprocal_sum(const Operand& operand, const Operand& u, const Node& max) const {
    const Node& reciprocal = source_[operand.node];
    if (reciprocal.op != Op::reciprocal || !is_of_rows(operand, max.axes) ||
        !is_whole(reciprocal.operands[0]))
      return false;
    const Node& sum = source_[reciprocal.operands[0].node];
    const Node& power = source_[u.node];
    return sum.op == Op::reduce && sum.reduce_kind == ReduceKind::sum && sum.axes == max.axes &&
           sum.operands[0].node == u.node && is_whole(sum.operands[0]) && power.op == Op::exp &&
           is_whole(power.operands[0]) &&
           is_below_maximum(source_[power.operands[0].node], max.axes);
  }

  // Whether the operand is a per-row value broadcast back over the reduced axes.
  bool is_of_rows(const Operand& operand, std::uint32_t axes) const {
    const Shape& shape = operand.view.shape;
    return source_[operand.node].shape == kept_shape(shape, axes) &&
           same_access(operand.view, row_broadcast(shape, axes));
  }

  const Graph& source_;
  GraphRewriter rewriter_;
  std::map<std::pair<NodeId, std::uint32_t>, NodeId> maxima_;  // by (whole node, axes)
};

}  // namespace

Graph reuse_maxima(Graph graph) {
  const auto maxima = std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return node.op == Op::reduce && node.reduce_kind == ReduceKind::max;
  });
  if (maxima < 2) return graph;  // one follows from another
  return Maxima(graph).run();
}

}  // namespace sinter
