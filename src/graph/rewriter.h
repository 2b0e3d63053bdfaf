// GraphRewriter: the one way to copy a graph while changing it. Nodes are visited in order; each is
// kept (perhaps edited) or replaced by an operand of the new graph, which may be built on the spot.
// In: a Graph. Out: another one, with the same inputs.
#pragma once

#include <functional>
#include <optional>

#include "src/graph/builder.h"
#include "src/graph/graph.h"

namespace sinter {

class GraphRewriter {
 public:
  explicit GraphRewriter(const Graph& source);
  GraphRewriter(const GraphRewriter&) = delete;
  GraphRewriter& operator=(const GraphRewriter&) = delete;

  const Graph& source() const { return source_; }
  const Graph& result() const { return result_; }
  GraphBuilder& build() { return builder_; }

  // What a source operand is in the result. Where a node was replaced and the two views do not
  // compose, the replacement is copied first.
  Operand moved(const Operand& operand);
  // All of a source node, as the result has it.
  const Operand& moved(NodeId id) const { return replacements_[id]; }
  // The source's node with its operands moved.
  Node moved_node(NodeId id);

  // Visits all nodes: `edit` returns what stands for the node, or nothing to keep it.
  // The visited node's origin is that of all nodes made for it.
  using Edit = std::function<std::optional<Operand>(NodeId)>;
  void run(const Edit& edit);

  // Moves the outputs and gives the result up.
  Graph finish();

 private:
  const Graph& source_;
  Graph result_;
  GraphBuilder builder_{result_};
  ById<NodeId, Operand> replacements_;
};

// The graph in which `edit` was asked for each node.
Graph rewritten(const Graph& graph,
                const std::function<std::optional<Operand>(GraphRewriter&, NodeId)>& edit);

}  // namespace sinter
