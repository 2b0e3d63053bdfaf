// Passes over views. Views are not nodes, so sinking a view means moving it from a reader to the
// operands of the pointwise node it reads. In: a Graph. Out: a Graph whose kernels read elements in
// the order they compute them.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "src/graph/builder.h"
#include "src/graph/simplify.h"

namespace sinter {

Graph copy_reversed_outputs(Graph graph) {
  GraphBuilder build(graph);
  for (Operand& output : graph.outputs) {
    if (!has_negative_strides(output.view)) continue;
    build.set_origin(graph[output.node].origin);
    output = build.copy(output);
  }
  return graph;
}

Graph note_kept_axes(Graph graph) {
  for (Node& node : graph.nodes) {
    if (!is_reduction(node.op)) continue;
    const int innermost = node.operands[0].view.shape.rank() - 1;
    node.keeps_innermost = innermost >= 0 && (node.axes >> innermost & 1) == 0;
  }
  return graph;
}

namespace {

// A reduction of one element is the element, except for the position that argmax finds.
bool keeps_unit_axes(const Node& node) {
  return node.op == Op::contract || (node.op == Op::reduce && is_arg(node.reduce_kind));
}

}  // namespace

// Operands view a node's row-major elements, so its readers are unaffected.
Graph drop_unit_axes(Graph graph) {
  for (Node& node : graph.nodes) {
    const bool is_reduce = is_reduction(node.op);
    if (!is_pointwise(node.op) && !is_reduce) continue;
    for (int i = node.operands[0].view.shape.rank() - 1; i >= 0; --i) {
      const bool is_reduced = is_reduce && (node.axes >> i & 1) != 0;
      if (node.operands[0].view.shape[i] != 1 || (is_reduced && keeps_unit_axes(node))) continue;
      for (Operand& operand : node.operands) operand.view = remove_axis(operand.view, i);
      const std::uint32_t below = node.axes & ((1u << i) - 1);
      if (is_reduce) node.axes = below | (node.axes >> (i + 1)) << i;
    }
    const View& view = node.operands[0].view;
    node.shape = is_reduce ? kept_shape(view.shape, node.axes) : view.shape;
    if (node.op == Op::reduce && node.axes == 0) {
      node.op = node.dtype == graph[node.operands[0].node].dtype ? Op::copy : Op::cast;
      node.reduce_kind = ReduceKind::sum;  // as in any copy, so that equal ones are merged
      node.keeps_innermost = false;
    }
  }
  return graph;
}

namespace {

// Which views are moved: those that show each element once, or those that repeat elements, where
// the work on an element is cheap enough to be done each time.
enum class Moved : std::uint8_t { once, repeated };

bool reads_leaves_only(const Graph& graph, const Node& node) {
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](const Operand& o) { return graph[o.node].op <= Op::iota; });
}

// Makes the node compute its elements in the order its readers use. Returns false, and leaves the
// node unchanged, if the view is of the other kind, would repeat much work, or does not compose.
bool move_through_view(const Graph& graph, Node& node, const View& view, Moved moved) {
  if (view.shape.numel() == 0) return false;  // kernels cannot iterate over an empty space
  if (view.is_padded()) return false;         // the fill is not computed by the node
  const bool repeats = distinct_elements(view) < view.shape.numel();
  if (repeats != (moved == Moved::repeated)) return false;
  if (repeats && (info(node.op).cost >= kHeavyCost || !reads_leaves_only(graph, node)))
    return false;
  std::vector<View> views;
  for (const Operand& operand : node.operands) {
    const auto composed = compose(view, operand.view);
    if (!composed) return false;
    views.push_back(*composed);
  }
  for (std::size_t i = 0; i < views.size(); ++i) node.operands[i].view = views[i];
  node.shape = view.shape;
  return true;
}

View without_unit_axes(View view) {
  for (int i = view.shape.rank() - 1; i >= 0; --i)
    if (view.shape[i] == 1) view = remove_axis(view, i);
  return view;
}

// The readers of each node: operands of nodes, then outputs. Stays valid while views change.
class Readers {
 public:
  explicit Readers(Graph& graph)
      : begin_(graph.nodes.size() + 1, 0),
        is_read_by_nodes_(graph.nodes.size(), 0),
        is_read_by_products_(graph.nodes.size(), 0) {
    for_each_operand(graph, [&](const Operand& operand) { ++begin_[operand.node + 1]; });
    for (NodeId id = 0; id < graph.size(); ++id) begin_[id + 1] += begin_[id];
    readers_.resize(begin_.back());
    ById<NodeId, std::size_t> next = begin_;
    for (Node& node : graph.nodes)
      for (Operand& operand : node.operands) {
        readers_[next[operand.node]++] = &operand;
        is_read_by_nodes_[operand.node] = 1;
        if (node.op == Op::contract) is_read_by_products_[operand.node] = 1;
      }
    for (Operand& output : graph.outputs) readers_[next[output.node]++] = &output;
  }

  std::span<Operand* const> of(NodeId id) const {
    return std::span(readers_).subspan(begin_[id], begin_[id + 1] - begin_[id]);
  }
  bool has_only_the_caller(NodeId id) const { return !is_read_by_nodes_[id]; }
  bool has_products(NodeId id) const { return is_read_by_products_[id]; }

  // The view all readers use for the node, or nullptr if they differ.
  const View* common_view(NodeId id) const {
    const std::span<Operand* const> readers = of(id);
    const auto agrees = [&](const Operand* each) { return each->view == readers[0]->view; };
    if (readers.empty() || !std::all_of(readers.begin() + 1, readers.end(), agrees)) return nullptr;
    return &readers[0]->view;
  }

 private:
  ById<NodeId, std::size_t> begin_;  // in readers_: those of a node end where the next one's begin
  std::vector<Operand*> readers_;
  ById<NodeId, char> is_read_by_nodes_;
  ById<NodeId, char> is_read_by_products_;
};

Graph sink(Graph graph, Moved moved) {
  const Readers readers(graph);
  for (NodeId id = graph.size() - 1; id >= 0; --id) {
    if (!is_pointwise(graph[id].op)) continue;
    const View* common = readers.common_view(id);
    if (!common || *common == dense_view(graph[id].shape)) continue;
    const View view = *common;
    // A per-row value that is only returned, as a column, stays per-row.
    if (readers.has_only_the_caller(id) &&
        without_unit_axes(view) == without_unit_axes(dense_view(graph[id].shape)))
      continue;
    // A matrix product sees each element of its operands many times.
    if (moved == Moved::repeated && readers.has_products(id)) continue;
    if (!move_through_view(graph, graph[id], view, moved)) continue;
    for (Operand* reader : readers.of(id)) reader->view = dense_view(view.shape);
  }
  return graph;
}

}  // namespace

Graph sink_views(Graph graph) { return sink(std::move(graph), Moved::once); }

Graph repeat_cheap_work(Graph graph) { return sink(std::move(graph), Moved::repeated); }

}  // namespace sinter
