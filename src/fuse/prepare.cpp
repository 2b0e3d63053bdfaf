// materialize_leaves.
#include "src/fuse/prepare.h"

#include <algorithm>
#include <utility>

#include "src/graph/rewriter.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

Operand copied(GraphBuilder& build, Operand operand) {
  const Node& source = build.graph()[operand.node];
  // Kernels cannot iterate over an empty range, so an empty constant replaces it.
  if (source.op == Op::iota && operand.view.shape.numel() == 0) {
    const Scalar zero = Scalar::of(std::int64_t{0}).as(source.dtype);
    operand = build.constant(zero, source.dtype, operand.view.shape);
  }
  return build.copy(operand);
}

// Removes parts without elements, but not all: kernels do not iterate over an empty space.
void drop_empty_parts(Node& concat) {
  const auto is_empty = [](const Operand& part) { return part.view.shape.numel() == 0; };
  if (std::all_of(concat.operands.begin(), concat.operands.end(), is_empty)) return;
  std::erase_if(concat.operands, is_empty);
}

// Inserts copies for parts of concats that no kernel can compute in place.
Graph with_own_parts(Graph graph) {
  const bool has_concat = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                      [](const Node& node) { return node.op == Op::concat; });
  if (!has_concat) return graph;
  const ById<NodeId, int> uses = count_uses(graph);
  return rewritten(graph, [&](GraphRewriter& rewriter, NodeId id) {
    std::optional<Operand> replacement;
    if (graph[id].op != Op::concat) return replacement;
    Node concat = graph[id];
    drop_empty_parts(concat);
    for (Operand& part : concat.operands) {
      const Op op = graph[part.node].op;
      const bool is_computed_in_place =
          uses[part.node] == 1 && (is_pointwise(op) || is_reduction(op)) && is_whole(graph, part);
      part = rewriter.moved(part);
      if (!is_computed_in_place) part = copied(rewriter.build(), part);
    }
    replacement = rewriter.build().add(std::move(concat));
    return replacement;
  });
}

}  // namespace

Graph materialize_leaves(Graph graph) {
  // Parts that are dropped or copied may leave behind what nothing else reads.
  Graph result = remove_dead(with_own_parts(std::move(graph)));
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
