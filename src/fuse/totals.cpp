// Finds totals by what they and other reductions read.
#include <bit>
#include <map>
#include <set>
#include <vector>

#include "src/fuse/prepare.h"
#include "src/graph/rewriter.h"

namespace sinter {
namespace {

constexpr std::size_t kMostVisited = 64;  // nodes, per reduction

// What a reduction reads, through pointwise nodes of its operand's shape: tensors of that size, and
// results of other reductions.
std::set<NodeId> sources_of(const Graph& graph, const Node& reduction) {
  std::set<NodeId> sources;
  std::set<NodeId> visited;
  const std::int64_t size = reduction.operands[0].view.shape.numel();
  std::vector<Operand> waiting{reduction.operands[0]};
  while (!waiting.empty() && visited.size() < kMostVisited) {
    const Operand operand = waiting.back();
    waiting.pop_back();
    const Node& node = graph[operand.node];
    if (is_scalar(node.op) || node.op == Op::iota || !visited.insert(operand.node).second) continue;
    if (is_pointwise(node.op))
      waiting.insert(waiting.end(), node.operands.begin(), node.operands.end());
    else if (is_reduction(node.op) || distinct_elements(operand.view) == size)
      sources.insert(operand.node);
  }
  return sources;
}

class Totals {
 public:
  explicit Totals(const Graph& graph) : graph_(graph) {
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (graph[id].op != Op::reduce) continue;
      for (const NodeId source : sources_of(graph, graph[id])) readers_[source].push_back(id);
    }
  }

  // The axes to reduce first, because another reduction walks the same data along them; 0: none.
  std::uint32_t first_axes(NodeId id) const {
    const Node& node = graph_[id];
    if (node.op != Op::reduce || is_arg(node.reduce_kind) || std::popcount(node.axes) < 2) return 0;
    for (const NodeId source : sources_of(graph_, node)) {
      if (const std::uint32_t axes = axes_below(node, graph_[source])) return axes;
      const auto readers = readers_.find(source);
      if (readers == readers_.end()) continue;
      for (const NodeId other : readers->second)
        if (const std::uint32_t axes = axes_below(node, graph_[other])) return axes;
    }
    return 0;
  }

 private:
  // The axes of another reduction over the same shape, if they are some of the node's.
  static std::uint32_t axes_below(const Node& node, const Node& other) {
    const bool is_below = other.op == Op::reduce && other.axes != node.axes &&
                          (other.axes & ~node.axes) == 0 &&
                          other.operands[0].view.shape == node.operands[0].view.shape;
    return is_below ? other.axes : 0;
  }

  const Graph& graph_;
  std::map<NodeId, std::vector<NodeId>> readers_;  // reductions by what they read
};

// The axes mask of what is left after reducing over `first`.
std::uint32_t left_after(std::uint32_t axes, std::uint32_t first, int rank) {
  std::uint32_t left = 0;
  for (int axis = 0, kept = 0; axis < rank; ++axis) {
    if (first >> axis & 1) continue;
    if (axes >> axis & 1) left |= 1u << kept;
    ++kept;
  }
  return left;
}

}  // namespace

Graph totals_of_rows(Graph graph) {
  const Totals totals(graph);
  return rewritten(graph, [&](GraphRewriter& rewriter, NodeId id) {
    std::optional<Operand> total;
    const std::uint32_t first = totals.first_axes(id);
    if (first == 0) return total;
    const Node& node = graph[id];
    const Operand of_rows =
        rewriter.build().reduce(node.reduce_kind, rewriter.moved(node.operands[0]), first);
    const std::uint32_t left = left_after(node.axes, first, node.operands[0].view.shape.rank());
    total = rewriter.build().reduce(node.reduce_kind, of_rows, left);
    return total;
  });
}

}  // namespace sinter
