// GraphRewriter's implementation.
#include "src/graph/rewriter.h"

#include <utility>

namespace sinter {

GraphRewriter::GraphRewriter(const Graph& source)
    : source_(source), replacements_(source.nodes.size()) {
  result_.origins = source.origins;
  result_.numbers = source.numbers;
  result_.nodes.reserve(source.nodes.size());
}

Operand GraphRewriter::moved(const Operand& operand) {
  return builder_.viewed(replacements_[operand.node], operand.view);
}

Node GraphRewriter::moved_node(NodeId id) {
  Node node = source_[id];
  for (Operand& operand : node.operands) operand = moved(operand);
  return node;
}

void GraphRewriter::run(const Edit& edit) {
  for (NodeId id = 0; id < source_.size(); ++id) {
    const Node& node = source_[id];
    builder_.set_origin(node.origin);
    if (node.op == Op::input) {
      replacements_[id] = builder_.input(node.dtype, node.shape);
      continue;
    }
    const std::optional<Operand> replacement = edit(id);
    replacements_[id] = replacement ? *replacement : builder_.add(moved_node(id));
  }
}

Graph GraphRewriter::finish() {
  for (const Operand& output : source_.outputs) {
    builder_.set_origin(source_[output.node].origin);
    result_.outputs.push_back(moved(output));
  }
  return std::move(result_);
}

Graph rewritten(const Graph& graph,
                const std::function<std::optional<Operand>(GraphRewriter&, NodeId)>& edit) {
  GraphRewriter rewriter(graph);
  rewriter.run([&](NodeId id) { return edit(rewriter, id); });
  return rewriter.finish();
}

}  // namespace sinter
