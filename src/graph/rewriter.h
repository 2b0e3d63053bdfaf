// GraphRewriter: the one way to copy a graph while changing it. Nodes are visited in order; each is
// copied or replaced by an operand of the new graph, which the edit may build on the spot.
// In: a Graph. Out: a new Graph with the same inputs.
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

  // A source operand translated to the result (GraphBuilder::viewed).
  Operand moved(const Operand& operand);
  // The operand that stands for a whole source node in the result.
  const Operand& moved(NodeId id) const { return replacements_[id]; }
  // A copy of a source node with its operands translated.
  Node moved_node(NodeId id);

  // Visits all nodes except inputs: `edit` returns the node's replacement, or nullopt to copy it.
  // Nodes built during a visit get the visited node's origin.
  using Edit = std::function<std::optional<Operand>(NodeId)>;
  void run(const Edit& edit);

  // Translates the outputs and returns the result.
  Graph finish();

 private:
  const Graph& source_;
  Graph result_;
  GraphBuilder builder_{result_};
  ById<NodeId, Operand> replacements_;
};

// Runs a GraphRewriter with `edit` over the graph.
Graph rewritten(const Graph& graph,
                const std::function<std::optional<Operand>(GraphRewriter&, NodeId)>& edit);

}  // namespace sinter
