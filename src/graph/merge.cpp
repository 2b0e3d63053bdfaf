// Equal nodes become one, and nodes that no output needs go. In: a Graph. Out: a smaller one.
#include <unordered_map>
#include <vector>

#include "src/graph/rewriter.h"
#include "src/graph/simplify.h"

namespace sinter {

Graph merge_equal(const Graph& graph) {
  std::unordered_multimap<Hash128, NodeId, Hash128Hasher> seen;  // of the result
  return rewritten(graph, [&](GraphRewriter& rewriter, NodeId id) -> std::optional<Operand> {
    Node node = rewriter.moved_node(id);
    const Hash128 key = key_of(node);
    const auto [begin, end] = seen.equal_range(key);
    for (auto it = begin; it != end; ++it)
      if (same_key(rewriter.result()[it->second], node)) return rewriter.result().whole(it->second);
    const Operand added = rewriter.build().add(std::move(node));
    seen.emplace(key, added.node);
    return added;
  });
}

Graph remove_dead(const Graph& graph) {
  ById<NodeId, char> live(graph.nodes.size(), 0);
  for (const Operand& output : graph.outputs) live[output.node] = 1;
  for (NodeId id = graph.size() - 1; id >= 0; --id)
    if (live[id])
      for (const Operand& operand : graph[id].operands) live[operand.node] = 1;
  return rewritten(graph, [&](GraphRewriter&, NodeId id) -> std::optional<Operand> {
    if (live[id]) return std::nullopt;
    return Operand{};  // nobody asks for it
  });
}

}  // namespace sinter
