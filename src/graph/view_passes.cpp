// Passes over views. Views carry no nodes, so "view folding" is moving an operand's view through
// the pointwise node it reads. In: a Graph. Out: one whose kernels read in the order they compute.
#include <algorithm>
#include <span>
#include <vector>

#include "src/graph/builder.h"
#include "src/graph/simplify.h"

namespace sinter {

Graph copy_reversed_outputs(const Graph& graph) {
  Graph result = graph;
  GraphBuilder build(result);
  for (Operand& output : result.outputs) {
    if (!has_negative_strides(output.view)) continue;
    build.set_origin(result[output.node].origin);
    output = build.copy(output);
  }
  return result;
}

// Operands see a node's row-major elements, so its readers do not notice.
Graph drop_unit_axes(const Graph& graph) {
  Graph result = graph;
  for (Node& node : result.nodes) {
    const bool is_reduce = is_reduction(node.op);
    if (!is_pointwise(node.op) && !is_reduce) continue;
    for (int i = node.operands[0].view.shape.rank() - 1; i >= 0; --i) {
      if (node.operands[0].view.shape[i] != 1 || (is_reduce && (node.axes >> i & 1))) continue;
      for (Operand& operand : node.operands) operand.view = remove_axis(operand.view, i);
      const std::uint32_t below = node.axes & ((1u << i) - 1);
      if (is_reduce) node.axes = below | (node.axes >> (i + 1)) << i;
    }
    const View& view = node.operands[0].view;
    node.shape = is_reduce ? kept_shape(view.shape, node.axes) : view.shape;
  }
  return result;
}

namespace {

bool reads_leaves_only(const Graph& graph, const Node& node) {
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](const Operand& o) { return graph[o.node].op <= Op::iota; });
}

// Computes the node directly in the order its readers want. False where that would repeat work or
// the views do not compose; the node stays as it is.
bool move_through_view(const Graph& graph, Node& node, const View& view) {
  if (view.shape.numel() == 0) return false;  // no kernel walks an empty space
  if (view.is_padded()) return false;         // what it shows elsewhere is not computed
  const bool repeats = distinct_elements(view) < view.shape.numel();
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

// Where a node is read: operands of nodes, then outputs. Views change, who reads what does not.
class Readers {
 public:
  explicit Readers(Graph& graph) : operands_(graph.nodes.size()) {
    for (Node& node : graph.nodes)
      for (Operand& operand : node.operands) operands_[operand.node].push_back(&operand);
    first_output_.resize(graph.nodes.size());
    for (NodeId id = 0; id < graph.size(); ++id) first_output_[id] = operands_[id].size();
    for (Operand& output : graph.outputs) operands_[output.node].push_back(&output);
  }

  std::span<Operand* const> of(NodeId id) const { return operands_[id]; }
  bool has_only_the_caller(NodeId id) const { return first_output_[id] == 0; }

  // The view through which all readers see the node, if they agree on one.
  const View* common_view(NodeId id) const {
    const auto& readers = operands_[id];
    const auto agrees = [&](const Operand* each) { return each->view == readers[0]->view; };
    if (readers.empty() || !std::all_of(readers.begin(), readers.end(), agrees)) return nullptr;
    return &readers[0]->view;
  }

 private:
  ById<NodeId, std::vector<Operand*>> operands_;
  ById<NodeId, std::size_t> first_output_;
};

}  // namespace

Graph sink_views(const Graph& graph) {
  Graph result = graph;
  const Readers readers(result);
  for (NodeId id = result.size() - 1; id >= 0; --id) {
    if (!is_pointwise(result[id].op)) continue;
    const View* common = readers.common_view(id);
    if (!common || *common == dense_view(result[id].shape)) continue;
    const View view = *common;
    // A row-level value returned as a column, which only the caller looks at, stays row-level.
    if (readers.has_only_the_caller(id) &&
        without_unit_axes(view) == without_unit_axes(dense_view(result[id].shape)))
      continue;
    if (!move_through_view(result, result[id], view)) continue;
    for (Operand* reader : readers.of(id)) reader->view = dense_view(view.shape);
  }
  return result;
}

}  // namespace sinter
