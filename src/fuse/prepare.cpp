// materialize_leaves.
#include "src/fuse/prepare.h"

#include "src/graph/rewriter.h"

namespace sinter {
namespace {

Operand copied(GraphBuilder& build, Operand operand) {
  const Node& source = build.graph()[operand.node];
  // No kernel can walk an empty range, so an empty constant stands in for it.
  if (source.op == Op::iota && operand.view.shape.numel() == 0) {
    const Scalar zero = Scalar::of(std::int64_t{0}).as(source.dtype);
    operand = build.constant(zero, source.dtype, operand.view.shape);
  }
  return build.copy(operand);
}

}  // namespace

Graph materialize_leaves(const Graph& graph) {
  const ById<NodeId, int> uses = count_uses(graph);
  Graph result = rewritten(graph, [&](GraphRewriter& rewriter, NodeId id) {
    std::optional<Operand> replacement;
    if (graph[id].op != Op::concat) return replacement;
    Node concat = rewriter.moved_node(id);
    for (std::size_t i = 0; i < concat.operands.size(); ++i) {
      const Operand& part = graph[id].operands[i];
      const Op op = graph[part.node].op;
      const bool is_computed_in_place =
          uses[part.node] == 1 && (is_pointwise(op) || is_reduction(op)) && is_whole(graph, part);
      if (!is_computed_in_place) concat.operands[i] = copied(rewriter.build(), concat.operands[i]);
    }
    replacement = rewriter.build().add(std::move(concat));
    return replacement;
  });
  GraphBuilder build(result);
  for (Operand& output : result.outputs) {
    const Node& node = result[output.node];
    if (!is_scalar(node.op) && node.op != Op::iota) continue;
    build.set_origin(node.origin);
    output = copied(build, output);
  }
  return result;
}

}  // namespace sinter
