// Common subexpression elimination and dead code elimination. In: a Graph. Out: a smaller Graph.
#include <bit>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/graph/simplify.h"

namespace sinter {
namespace {

// Compacts a graph in place: visits its nodes in order and keeps some of them. Readers of a node
// keep their views of it.
class Compaction {
 public:
  explicit Compaction(Graph& graph) : graph_(graph), targets_(graph.nodes.size(), -1) {}

  // The next node, with its operands renumbered.
  Node& next() {
    Node& node = graph_[next_];
    for (Operand& operand : node.operands) operand.node = targets_[operand.node];
    return node;
  }
  // Call exactly one of these for each node.
  NodeId keep() {
    if (kept_ != next_) graph_[kept_] = std::move(graph_[next_]);
    return targets_[next_++] = kept_++;
  }
  void replace(NodeId target) { targets_[next_++] = target; }
  void drop() { ++next_; }

  bool is_done() const { return next_ == graph_.size(); }
  NodeId position() const { return next_; }

  void finish() {
    graph_.nodes.resize(static_cast<std::size_t>(kept_));
    for (NodeId& input : graph_.inputs) input = targets_[input];
    for (Operand& output : graph_.outputs) output.node = targets_[output.node];
  }

 private:
  Graph& graph_;
  ById<NodeId, NodeId> targets_;  // by old node; -1: dropped, or not visited yet
  NodeId next_ = 0;
  NodeId kept_ = 0;
};

// Equal nodes have equal hashes. Skips most of the views: nodes rarely differ only in these.
std::size_t hash_of(const Node& node) {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  add(static_cast<std::uint64_t>(node.op) << 16 | static_cast<std::uint64_t>(node.dtype) << 8 |
      static_cast<std::uint64_t>(node.reduce_kind));
  add(std::bit_cast<std::uint64_t>(node.value.real));
  add(static_cast<std::uint64_t>(node.value.integer));
  add(std::uint64_t{node.axes} << 32 | static_cast<std::uint32_t>(node.number));
  for (const Operand& operand : node.operands) {
    add(static_cast<std::uint64_t>(operand.node));
    add(static_cast<std::uint64_t>(operand.view.offset));
  }
  return hash;
}

// An index compared with a constant. Every kernel computes its own, which costs nothing there: one
// that kernels share would be stored.
bool is_index_condition(const Graph& graph, const Node& node) {
  return (node.op == Op::lt || node.op == Op::ge) && graph[node.operands[0].node].op == Op::iota &&
         graph[node.operands[1].node].op == Op::constant;
}

// Finds products of one value by several numbers. Kernels contract products with the sums that
// follow, so two products whose numbers are equal in this call become one, as with constants, and a
// guard restricts the program to calls in which they are equal, or are not.
class Factors {
 public:
  explicit Factors(Graph& graph) : graph_(graph) {}

  // Replaces a factor by an earlier one of the same value that has the same bits.
  void unify(Node& product) {
    if (graph_.numbers.empty() || product.op != Op::mul || !is_floating(product.dtype)) return;
    for (std::size_t i = 0; i < 2; ++i)
      if (is_scalar(graph_[product.operands[i].node].op)) unify(product, i);
  }

 private:
  void unify(Node& product, std::size_t index) {
    Hasher key;
    add_key(key, product.operands[1 - index]);
    key.add(std::uint64_t{index});
    std::vector<NodeId>& earlier = of_value_[key.finish()];
    NodeId& factor = product.operands[index].node;
    for (const NodeId other : earlier)
      if (other == factor || are_equal(graph_[other], graph_[factor])) {
        factor = other;
        return;
      }
    earlier.push_back(factor);
  }

  // Two constants with the same bits are one node already.
  bool are_equal(const Node& a, const Node& b) {
    if (a.op == Op::number && b.op == Op::number) return is_guarded(a.number, b.number);
    if (a.op == Op::number) return is_guarded(a.number, b.value);
    return b.op == Op::number && is_guarded(b.number, a.value);
  }
  bool is_guarded(NumberId number, const Scalar& value) {
    return graph_.numbers.is_guarded(number, Scalar::of(value.real));
  }
  bool is_guarded(NumberId a, NumberId b) {
    const NumberId equal = graph_.numbers.apply(Op::eq, DType::f64, {a, b});
    return graph_.numbers.is_guarded(equal, Scalar::of(std::int64_t{1}));
  }

  Graph& graph_;
  std::unordered_map<Hash128, std::vector<NodeId>, Hash128Hasher> of_value_;
};

}  // namespace

Graph merge_equal(Graph graph) {
  std::unordered_multimap<std::size_t, NodeId> seen;
  seen.reserve(graph.nodes.size());
  Compaction compaction(graph);
  Factors factors(graph);
  while (!compaction.is_done()) {
    Node& node = compaction.next();
    factors.unify(node);
    if (node.op == Op::input || is_index_condition(graph, node)) {
      compaction.keep();
      continue;
    }
    const std::size_t hash = hash_of(node);
    const auto [begin, end] = seen.equal_range(hash);
    auto it = begin;
    while (it != end && !same_key(graph[it->second], node)) ++it;
    if (it != end)
      compaction.replace(it->second);
    else
      seen.emplace(hash, compaction.keep());
  }
  compaction.finish();
  return graph;
}

Graph remove_dead(Graph graph) {
  ById<NodeId, char> live(graph.nodes.size(), 0);
  for (const Operand& output : graph.outputs) live[output.node] = 1;
  for (NodeId id = graph.size() - 1; id >= 0; --id)
    if (live[id])
      for (const Operand& operand : graph[id].operands) live[operand.node] = 1;
  Compaction compaction(graph);
  while (!compaction.is_done()) {
    if (!live[compaction.position()] && graph[compaction.position()].op != Op::input) {
      compaction.drop();
      continue;
    }
    compaction.next();
    compaction.keep();
  }
  compaction.finish();
  return graph;
}

}  // namespace sinter
