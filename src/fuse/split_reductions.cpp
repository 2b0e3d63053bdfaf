// Splitter: reductions whose results are fewer than the workers, as parts and their total.
// In: a Graph and what suits the workers. Out: a Graph in which the parts fuse with what they read.
#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "src/base/rounding.h"
#include "src/fuse/online.h"
#include "src/fuse/plan.h"
#include "src/fuse/prepare.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

constexpr std::int64_t kWorthSplitting = 1 << 17;  // elements
constexpr std::int64_t kSmallestRowPart = 2048;    // elements
constexpr std::int64_t kColumnsAtOnce = 256;       // kept neighbours that one worker takes together
constexpr std::int64_t kEvenPart = 16;             // elements: parts begin where wide loads can
constexpr std::size_t kMostReadAgain = 2;          // tensors

class Splitter {
 public:
  Splitter(const Graph& source, const FusionOptions& options)
      : source_(source), options_(options), parallelism_(options.parallelism) {}

  Graph run() {
    for (NodeId id = 0; id < source_.size(); ++id) {
      Node node = source_[id];
      round_ = 0;
      for (Operand& operand : node.operands) {
        round_ = std::max(round_, rounds_[static_cast<std::size_t>(operand.node)]);
        operand.node = moved_[static_cast<std::size_t>(operand.node)];
      }
      rounds_.push_back(round_ + (node.op == Op::reduce ? 1 : 0));
      const bool is_input = node.op == Op::input;
      NodeId target = -1;
      if (node.op == Op::reduce) target = split_online(id);
      if (node.op == Op::reduce && target < 0) target = split(id, node);
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
    return has_split_ ? sink_views(remove_dead(result_)) : std::move(result_);
  }

 private:
  // Adds the split form and returns the node that holds the result; -1 to leave the node alone.
  NodeId split(NodeId id, const Node& node) {
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
    const Parts parts = parts_of(length, std::max<std::int64_t>(1, smallest / others),
                                 std::max<std::int64_t>(1, tasks), rows);
    if (parts.count < 2) return -1;
    if (!is_arg(node.reduce_kind)) return split_plain(id, node, axis, parts);
    return parts.count * parts.size == length ? split_arg(node, axis, parts) : -1;
  }

  struct Parts {
    std::int64_t count = 0;
    std::int64_t size = 0;
  };

  // Equal ones near the wanted number if there are, best of an even size; else they leave a tail.
  Parts parts_of(std::int64_t length, std::int64_t smallest, std::int64_t tasks, bool rows) const {
    const std::int64_t most = std::min<std::int64_t>(16L * parallelism_, length / smallest);
    if (most < 2) return {};
    const std::int64_t least = std::max<std::int64_t>(
        2, std::min<std::int64_t>(parallelism_, ceil_div(2L * parallelism_, tasks)));
    for (const std::int64_t even : {rows ? kEvenPart : 1, std::int64_t{1}})
      for (std::int64_t count = most; count >= least; --count)
        if (length % count == 0 && length / count % even == 0) return {count, length / count};
    std::int64_t size = length / most;
    if (rows && size >= kEvenPart) size -= size % kEvenPart;
    return {length / size, size};
  }

  // `view` with `axis` cut into (count, size) at axis, axis + 1; what does not divide is left out.
  static View cut(const View& view, int axis, const Parts& parts) {
    View result = insert_axis(view, axis);
    result.shape[axis] = parts.count;
    result.strides[axis] = view.strides[axis] * parts.size;
    result.shape[axis + 1] = parts.size;
    return result;
  }

  NodeId add_reduce(ReduceKind kind, const Operand& operand, std::uint32_t axes) {
    Node node;
    node.op = Op::reduce;
    node.reduce_kind = kind;
    node.axes = axes;
    node.operands = {operand};
    node.dtype = reduce_dtype(kind, result_[operand.node].dtype);
    node.shape = kept_shape(operand.view.shape, axes);
    return result_.add(std::move(node));
  }

  Operand whole(NodeId id) const { return {id, dense_view(result_[id].shape)}; }

  // Of operands of one type.
  NodeId add_pointwise(Op op, std::vector<Operand> operands) {
    const DType dtype = result_[operands[0].node].dtype;
    return add_pointwise(op, dtype, std::move(operands));
  }

  NodeId add_pointwise(Op op, DType dtype, std::vector<Operand> operands) {
    Node node;
    node.op = op;
    node.dtype = dtype;
    node.shape = operands[0].view.shape;
    node.operands = std::move(operands);
    return result_.add(std::move(node));
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

  // Unfused, every tensor of the program is rounded to its type, but not what the parts give.
  Operand widened(const Operand& operand) {
    const DType dtype = result_[operand.node].dtype;
    if (compute_dtype(dtype) == dtype) return operand;
    return whole(add_pointwise(Op::cast, compute_dtype(dtype), {operand}));
  }

  // What a part needs besides the tensors it reads is computed again in its kernel, if that is
  // cheaper than to keep it: the operand with a computation of its own. Reductions that can share a
  // kernel share that, too: those over the same `axes` that wait for as many others.
  Operand with_own_computation(const Operand& operand, std::uint32_t axes, bool tail) {
    if (!options_.fuse) return widened(operand);
    std::set<NodeId> nodes;
    std::set<NodeId> read;
    int cost = 0;
    find_computation(operand.node, result_[operand.node].shape.numel(), nodes, read, cost);
    if (cost > options_.repeated_cost || read.size() > kMostReadAgain) return operand;
    std::map<NodeId, NodeId>& copies = copies_[{round_, axes, tail}];
    for (NodeId id : nodes) {
      if (copies.count(id)) continue;
      Node node = result_[id];
      for (Operand& each : node.operands)
        if (const auto it = copies.find(each.node); it != copies.end()) each.node = it->second;
      copies[id] = result_.add(std::move(node));
    }
    return {nodes.empty() ? operand.node : copies.at(operand.node), operand.view};
  }

  // The pointwise nodes of that size, and the tensors they begin with.
  void find_computation(NodeId id, std::int64_t size, std::set<NodeId>& nodes,
                        std::set<NodeId>& read, int& cost) const {
    const Node& node = result_[id];
    if (node.shape.numel() < size || node.op == Op::constant || node.op == Op::iota) return;
    if (!is_pointwise(node.op)) {
      read.insert(id);
      return;
    }
    if (!nodes.insert(id).second) return;
    cost += std::max(1, info(node.op).cost);
    for (const Operand& operand : node.operands)
      find_computation(operand.node, size, nodes, read, cost);
  }

  // What became of a reduction: of each of its parts, of the tail (or -1), of all.
  struct Split {
    Operand main;  // what the parts reduce, and along which axes
    std::uint32_t main_axes = 0;
    Operand tail;
    std::uint32_t axes = 0;
    int parts_axis = 0;  // of the parts' results
    NodeId partial = -1;
    NodeId rest = -1;
    NodeId total = -1;
  };

  NodeId split_plain(NodeId id, const Node& node, int axis, const Parts& parts) {
    Split split;
    const std::int64_t length = node.operands[0].view.shape[axis];
    const std::int64_t whole_parts = parts.count * parts.size;
    split.axes = node.axes;
    split.main_axes = shifted(node.axes, axis);
    split.parts_axis = kept_position(node.axes, axis);
    split.main = with_own_computation(node.operands[0], node.axes, false);
    split.main.view = cut(slice(split.main.view, axis, 0, whole_parts, 1), axis, parts);
    split.partial = add_reduce(node.reduce_kind, split.main, split.main_axes);
    split.total = add_reduce(node.reduce_kind, whole(split.partial), 1u << split.parts_axis);
    if (whole_parts < length) {
      split.tail = with_own_computation(node.operands[0], node.axes, true);
      split.tail.view = slice(split.tail.view, axis, whole_parts, length - whole_parts, 1);
      split.rest = add_reduce(node.reduce_kind, split.tail, node.axes);
      constexpr Op kCombine[] = {Op::add, Op::mul, Op::maximum, Op::minimum};
      split.total = add_pointwise(kCombine[static_cast<int>(node.reduce_kind)],
                                  {whole(split.total), whole(split.rest)});
    }
    if (result_[split.total].dtype != node.dtype)
      split.total = add_pointwise(Op::cast, node.dtype, {whole(split.total)});
    splits_[id] = split;
    return split.total;
  }

  // sum(exp(u - max(u))) of a split maximum: each part's sum is below the part's own maximum, so
  // that one kernel makes both. The total corrects them. -1 for other reductions.
  NodeId split_online(NodeId id) {
    const auto nodes = online_nodes(source_, id);
    if (!nodes || !options_.fuse || !splits_.count(nodes->max)) return -1;
    if (options_.repeated_cost < info(Op::exp).cost) return -1;  // better computed once and kept
    const Split& max = splits_.at(nodes->max);
    const DType dtype = source_[nodes->max].dtype;
    if (compute_dtype(dtype) != dtype) return -1;  // 16-bit floats have no least number in f32
    const auto sum_below = [&](const Operand& u, NodeId tops, std::uint32_t axes) {
      const Operand spread{tops, row_broadcast(u.view.shape, axes)};
      const NodeId power = add_pointwise(Op::exp, {whole(add_pointwise(Op::sub, {u, spread}))});
      return add_reduce(ReduceKind::sum, whole(power), axes);
    };
    const auto corrected = [&](NodeId sum, NodeId tops, const View& total) {
      const NodeId below = add_pointwise(Op::sub, {whole(tops), {max.total, total}});
      return add_pointwise(Op::mul, {whole(sum), whole(add_pointwise(Op::exp, {whole(below)}))});
    };
    const std::uint32_t over_parts = 1u << max.parts_axis;
    const NodeId tops = at_least_finite(max.partial);
    const NodeId partial = sum_below(max.main, tops, max.main_axes);
    const View spread = row_broadcast(result_[partial].shape, over_parts);
    const NodeId total =
        add_reduce(ReduceKind::sum, whole(corrected(partial, tops, spread)), over_parts);
    if (max.rest < 0) return total;
    const NodeId top = at_least_finite(max.rest);
    const NodeId rest = sum_below(max.tail, top, max.axes);
    const View same = dense_view(result_[rest].shape);
    return add_pointwise(Op::add, {whole(total), whole(corrected(rest, top, same))});
  }

  // A part of -inf alone sums up to 0, not to NaN: that is for a row of them.
  NodeId at_least_finite(NodeId top) {
    const DType dtype = result_[top].dtype;
    const double least = dtype == DType::f64
                             ? std::numeric_limits<double>::lowest()
                             : static_cast<double>(std::numeric_limits<float>::lowest());
    const Shape shape = result_[top].shape;
    return add_pointwise(Op::maximum, {whole(top), constant(Scalar::of(least), dtype, shape)});
  }

  // argmax: the first position, over the parts, whose value equals the best one.
  NodeId split_arg(const Node& node, int axis, const Parts& parts) {
    const Operand operand = with_own_computation(node.operands[0], node.axes, false);
    const View view = cut(operand.view, axis, parts);
    const std::uint32_t axes = shifted(node.axes, axis);
    const ReduceKind kind =
        node.reduce_kind == ReduceKind::argmax ? ReduceKind::max : ReduceKind::min;
    const NodeId values = add_reduce(kind, {operand.node, view}, axes);
    const NodeId places = add_reduce(node.reduce_kind, {operand.node, view}, axes);
    const int parts_axis = kept_position(node.axes, axis);
    const Shape shape = result_[values].shape;  // kept axes with the parts among them
    const NodeId best = add_reduce(kind, whole(values), 1u << parts_axis);

    Node starts;
    starts.op = Op::iota;
    starts.dtype = DType::i64;
    starts.shape = {parts.count};
    starts.value = Scalar::of(std::int64_t{0});
    starts.step = Scalar::of(parts.size);
    const NodeId start = result_.add(std::move(starts));
    View start_view{shape, Shape::filled(shape.rank(), 0), 0};
    start_view.strides[parts_axis] = 1;
    const NodeId position =
        add_pointwise(Op::add, DType::i64, {whole(places), {start, start_view}});

    const View best_view = row_broadcast(shape, 1u << parts_axis);
    NodeId is_best = add_pointwise(Op::eq, DType::boolean, {whole(values), {best, best_view}});
    if (is_floating(result_[values].dtype)) {
      const NodeId is_nan = add_pointwise(Op::isnan, DType::boolean, {whole(values)});
      is_best = add_pointwise(Op::logical_or, DType::boolean, {whole(is_best), whole(is_nan)});
    }
    const Operand never =
        constant(Scalar::of(std::numeric_limits<std::int64_t>::max()), DType::i64, shape);
    const NodeId candidate =
        add_pointwise(Op::where, DType::i64, {whole(is_best), whole(position), never});
    return add_reduce(ReduceKind::min, whole(candidate), 1u << parts_axis);
  }

  const Graph& source_;
  const FusionOptions& options_;
  int parallelism_;
  Graph result_;
  std::vector<NodeId> moved_;
  std::vector<int> rounds_;  // by node of the source: reductions one after the other up to it
  int round_ = 0;            // reductions that the node being moved waits for
  // Computations of the parts' own, by round, axes and whether it is the tail's.
  std::map<std::tuple<int, std::uint32_t, bool>, std::map<NodeId, NodeId>> copies_;
  std::map<NodeId, Split> splits_;  // by node of the source
  bool has_split_ = false;
};

}  // namespace

Graph split_reductions(const Graph& graph, const FusionOptions& options) {
  return Splitter(graph, options).run();
}

}  // namespace sinter
