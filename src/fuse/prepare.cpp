// split_reductions and materialize_leaves.
#include "src/fuse/prepare.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "src/fuse/plan.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

constexpr std::int64_t kWorthSplitting = 1 << 17;  // elements
constexpr std::int64_t kSmallestRowPart = 2048;    // elements
constexpr std::int64_t kColumnsAtOnce = 256;       // kept neighbours that one worker takes together

Node pointwise_node(Op op, DType dtype, std::vector<Operand> operands) {
  Node node;
  node.op = op;
  node.dtype = dtype;
  node.shape = operands[0].view.shape;
  node.operands = std::move(operands);
  return node;
}

class Splitter {
 public:
  Splitter(const Graph& source, const FusionOptions& options)
      : source_(source), options_(options), parallelism_(options.parallelism) {}

  Graph run() {
    for (NodeId id = 0; id < source_.size(); ++id) {
      Node node = source_[id];
      for (Operand& operand : node.operands)
        operand.node = moved_[static_cast<std::size_t>(operand.node)];
      const bool is_input = node.op == Op::input;
      NodeId target = -1;
      if (node.op == Op::reduce) target = split(node);
      has_split_ |= target >= 0;
      if (target < 0) target = result_.add(std::move(node));
      if (is_input) result_.inputs.push_back(target);
      moved_.push_back(target);
    }
    for (Operand output : source_.outputs) {
      output.node = moved_[static_cast<std::size_t>(output.node)];
      result_.outputs.push_back(output);
    }
    // What only a split reduction reads is computed in the parts' shape, so that they fuse.
    return has_split_ ? sink_views(result_) : std::move(result_);
  }

 private:
  // Adds the split form and returns the node that holds the result; -1 to leave the node alone.
  NodeId split(const Node& node) {
    const View& view = node.operands[0].view;
    const std::int64_t results = node.shape.numel();
    if (view.shape.numel() < kWorthSplitting || view.shape.rank() == kMaxRank) return -1;
    const int inner = view.shape.rank() - 1;
    const bool rows = node.axes >> inner & 1;
    const std::int64_t tasks = rows ? results : results / kColumnsAtOnce;
    if (tasks >= parallelism_) return -1;
    if (rows && view.shape.numel() <= options_.whole_row * results) return -1;

    int axis = -1;
    for (int i = 0; i <= inner; ++i)
      if ((node.axes >> i & 1) && (axis < 0 || view.shape[i] > view.shape[axis])) axis = i;
    const std::int64_t length = view.shape[axis];
    const std::int64_t others = view.shape.numel() / length / std::max<std::int64_t>(results, 1);
    const std::int64_t smallest = rows ? kSmallestRowPart : options_.smallest_column_part;
    const std::int64_t parts =
        part_count(length, std::max<std::int64_t>(1, smallest / others), is_arg(node.reduce_kind));
    if (parts < 2) return -1;
    return is_arg(node.reduce_kind) ? split_arg(node, axis, parts) : split_plain(node, axis, parts);
  }

  // A divisor of `length` if there is one near the wanted number of parts; else (unless `exact`)
  // just that number, leaving a tail.
  std::int64_t part_count(std::int64_t length, std::int64_t smallest, bool exact) const {
    const std::int64_t most = std::min<std::int64_t>(16L * parallelism_, length / smallest);
    for (std::int64_t parts = most; parts >= std::max(2, parallelism_); --parts)
      if (length % parts == 0) return parts;
    return exact ? 0 : most;
  }

  // `view` with `axis` cut into (parts, size) at axis, axis + 1; what does not divide is left out.
  static View cut(const View& view, int axis, std::int64_t parts, std::int64_t size) {
    View result = insert_axis(view, axis);
    result.shape[axis] = parts;
    result.strides[axis] = view.strides[axis] * size;
    result.shape[axis + 1] = size;
    return result;
  }

  NodeId add_reduce(ReduceKind kind, NodeId source, const View& view, std::uint32_t axes) {
    Node node;
    node.op = Op::reduce;
    node.reduce_kind = kind;
    node.axes = axes;
    node.operands = {{source, view}};
    node.dtype = reduce_dtype(kind, result_[source].dtype);
    node.shape = kept_shape(view.shape, axes);
    return result_.add(std::move(node));
  }

  Operand whole(NodeId id) const { return {id, dense_view(result_[id].shape)}; }

  NodeId add_pointwise(Op op, DType dtype, std::vector<Operand> operands) {
    return result_.add(pointwise_node(op, dtype, std::move(operands)));
  }

  Operand constant(Scalar value, DType dtype, const Shape& shape) {
    Node node;
    node.op = Op::constant;
    node.dtype = dtype;
    node.value = value.as(dtype);
    return {result_.add(std::move(node)), expand(dense_view({}), shape)};
  }

  // The axes mask after one more axis was inserted at `axis`, itself not reduced.
  static std::uint32_t shifted(std::uint32_t axes, int axis) {
    const std::uint32_t low = axes & ((1u << axis) - 1);
    return low | (axes & ~((1u << axis) - 1)) << 1;
  }

  static int kept_position(std::uint32_t axes, int axis) {
    return axis - std::popcount(axes & ((1u << axis) - 1));
  }

  // A reduction of 16-bit floats keeps its parts in f32.
  NodeId reduce_wide(ReduceKind kind, const Operand& operand, std::uint32_t axes) {
    const DType dtype = result_[operand.node].dtype;
    if (compute_dtype(dtype) == dtype) return add_reduce(kind, operand.node, operand.view, axes);
    const NodeId wide = add_pointwise(Op::cast, DType::f32, {operand});
    return add_reduce(kind, wide, dense_view(operand.view.shape), axes);
  }

  NodeId split_plain(const Node& node, int axis, std::int64_t parts) {
    const Operand operand = node.operands[0];
    const std::int64_t length = operand.view.shape[axis];
    const std::int64_t size = length / parts;
    const View main = slice(operand.view, axis, 0, parts * size, 1);
    const NodeId partial = reduce_wide(
        node.reduce_kind, {operand.node, cut(main, axis, parts, size)}, shifted(node.axes, axis));
    const int parts_axis = kept_position(node.axes, axis);
    NodeId total =
        add_reduce(node.reduce_kind, partial, dense_view(result_[partial].shape), 1u << parts_axis);
    if (parts * size < length) {
      const View tail = slice(operand.view, axis, parts * size, length - parts * size, 1);
      const NodeId rest = reduce_wide(node.reduce_kind, {operand.node, tail}, node.axes);
      constexpr Op kCombine[] = {Op::add, Op::mul, Op::maximum, Op::minimum};
      total = add_pointwise(kCombine[static_cast<int>(node.reduce_kind)], result_[total].dtype,
                            {whole(total), whole(rest)});
    }
    if (result_[total].dtype != node.dtype)
      total = add_pointwise(Op::cast, node.dtype, {whole(total)});
    return total;
  }

  // argmax: the first position, over the parts, whose value equals the best one.
  NodeId split_arg(const Node& node, int axis, std::int64_t parts) {
    const Operand operand = node.operands[0];
    const std::int64_t size = operand.view.shape[axis] / parts;
    const View view = cut(operand.view, axis, parts, size);
    const std::uint32_t axes = shifted(node.axes, axis);
    const ReduceKind kind =
        node.reduce_kind == ReduceKind::argmax ? ReduceKind::max : ReduceKind::min;
    const NodeId values = add_reduce(kind, operand.node, view, axes);
    const NodeId places = add_reduce(node.reduce_kind, operand.node, view, axes);
    const int parts_axis = kept_position(node.axes, axis);
    const Shape shape = result_[values].shape;  // kept axes with the parts among them
    const NodeId best = add_reduce(kind, values, dense_view(shape), 1u << parts_axis);

    Node starts;
    starts.op = Op::iota;
    starts.dtype = DType::i64;
    starts.shape = {parts};
    starts.value = Scalar::of(std::int64_t{0});
    starts.step = Scalar::of(size);
    const NodeId start = result_.add(std::move(starts));
    View start_view{shape, Shape::filled(shape.rank(), 0), 0};
    start_view.strides[parts_axis] = 1;
    const NodeId position =
        add_pointwise(Op::add, DType::i64, {whole(places), {start, start_view}});

    const View best_view = row_broadcast({shape, 1u << parts_axis});
    NodeId is_best = add_pointwise(Op::eq, DType::boolean, {whole(values), {best, best_view}});
    if (is_floating(result_[values].dtype)) {
      const NodeId is_nan = add_pointwise(Op::isnan, DType::boolean, {whole(values)});
      is_best = add_pointwise(Op::logical_or, DType::boolean, {whole(is_best), whole(is_nan)});
    }
    const Operand never =
        constant(Scalar::of(std::numeric_limits<std::int64_t>::max()), DType::i64, shape);
    const NodeId candidate =
        add_pointwise(Op::where, DType::i64, {whole(is_best), whole(position), never});
    return add_reduce(ReduceKind::min, candidate, dense_view(shape), 1u << parts_axis);
  }

  const Graph& source_;
  const FusionOptions& options_;
  int parallelism_;
  Graph result_;
  std::vector<NodeId> moved_;
  bool has_split_ = false;
};

}  // namespace

Graph split_reductions(const Graph& graph, const FusionOptions& options) {
  return Splitter(graph, options).run();
}

Graph materialize_leaves(const Graph& graph) {
  Graph result;
  std::vector<NodeId> moved;
  auto copy_of = [&](const Operand& operand) -> Operand {
    Node copy = pointwise_node(Op::copy, result[operand.node].dtype, {operand});
    const Shape shape = copy.shape;
    return {result.add(std::move(copy)), dense_view(shape)};
  };
  std::vector<int> uses(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes)
    for (const Operand& operand : node.operands) ++uses[static_cast<std::size_t>(operand.node)];
  for (const Operand& output : graph.outputs) ++uses[static_cast<std::size_t>(output.node)];

  for (NodeId id = 0; id < graph.size(); ++id) {
    Node node = graph[id];
    for (Operand& operand : node.operands) {
      const Node& source = graph[operand.node];
      const bool in_place = uses[static_cast<std::size_t>(operand.node)] == 1 &&
                            (is_pointwise(source.op) || source.op == Op::reduce) &&
                            operand.view == dense_view(source.shape);
      operand.node = moved[static_cast<std::size_t>(operand.node)];
      if (node.op == Op::concat && !in_place) operand = copy_of(operand);
    }
    const bool is_input = node.op == Op::input;
    moved.push_back(result.add(std::move(node)));
    if (is_input) result.inputs.push_back(moved.back());
  }
  for (Operand output : graph.outputs) {
    const Op op = graph[output.node].op;
    output.node = moved[static_cast<std::size_t>(output.node)];
    result.outputs.push_back(op == Op::constant || op == Op::iota ? copy_of(output) : output);
  }
  return result;
}

}  // namespace sinter
