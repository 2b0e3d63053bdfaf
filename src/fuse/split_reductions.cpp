// Splits reductions with fewer results than workers into partial reductions and a final one.
// In: a Graph and FusionOptions. Out: a Graph whose partial reductions fuse with their producers.
#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "src/base/rounding.h"
#include "src/fuse/online.h"
#include "src/fuse/plan.h"
#include "src/fuse/prepare.h"
#include "src/fuse/products.h"
#include "src/graph/rewriter.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

constexpr std::int64_t kWorthSplitting = 1 << 17;  // elements
constexpr std::int64_t kSmallestRowPart = 2048;    // elements
constexpr std::int64_t kColumnsAtOnce = 256;       // adjacent results that one worker computes
constexpr std::int64_t kEvenPart = 16;             // elements: keeps parts aligned for vector loads
constexpr std::size_t kMostReadAgain = 2;          // tensors
constexpr std::int64_t kWorthSplittingProducts = 1 << 20;
constexpr std::int64_t kProductTile = 64 * 64;       // results that one worker computes
constexpr std::int64_t kSmallestProductPart = 1024;  // of the summed axis

// The axes mask after inserting a kept axis at `axis`.
std::uint32_t shifted(std::uint32_t axes, int axis) {
  const std::uint32_t low = axes & ((1u << axis) - 1);
  return low | (axes & ~((1u << axis) - 1)) << 1;
}

int kept_position(std::uint32_t axes, int axis) {
  return axis - std::popcount(axes & ((1u << axis) - 1));
}

struct Parts {
  std::int64_t count = 0;
  std::int64_t size = 0;
};

// `view` with `axis` cut into (count, size) at axis, axis + 1; the remainder is left out.
View cut(const View& view, int axis, const Parts& parts) {
  View result = insert_axis(view, axis);
  result.shape[axis] = parts.count;
  result.strides[axis] = view.strides[axis] * parts.size;
  result.shape[axis + 1] = parts.size;
  return result;
}

// How a reduction is split: the axis and its parts.
struct Cut {
  int axis = -1;
  Parts parts;
};

bool runs_alone(const Graph& graph, const Node& node, const FusionOptions& options) {
  return options.runs_alone && !options.runs_alone(graph, node, dense_view(node.shape)).empty();
}

class CutChooser {
 public:
  explicit CutChooser(const FusionOptions& options)
      : options_(options), parallelism_(options.parallelism) {}

  std::optional<Cut> choose(const Node& node) const {
    const View& view = node.operands[0].view;
    const std::int64_t results = node.shape.numel();
    if (view.shape.numel() == 0 || view.shape.rank() == kMaxRank) return std::nullopt;
    const int inner = view.shape.rank() - 1;
    const bool rows =
        options_.batch_invariant ? !node.keeps_innermost : (node.axes >> inner & 1) != 0;
    const std::int64_t tasks = options_.batch_invariant ? 1
                               : rows                   ? results
                                                        : results / kColumnsAtOnce;
    if (!is_worth_splitting(view.shape.numel(), results, rows, tasks)) return std::nullopt;

    Cut cut;
    for (int i = 0; i <= inner; ++i)
      if ((node.axes >> i & 1) && (cut.axis < 0 || view.shape[i] > view.shape[cut.axis]))
        cut.axis = i;
    const std::int64_t length = view.shape[cut.axis];
    const std::int64_t others = view.shape.numel() / length / std::max<std::int64_t>(results, 1);
    const std::int64_t smallest = rows ? kSmallestRowPart : options_.smallest_column_part;
    cut.parts = parts_of(length, std::max<std::int64_t>(1, smallest / others),
                         std::max<std::int64_t>(1, tasks), rows);
    // An argmax with a tail would also have to compare the tail's position with the parts'.
    const bool is_even = cut.parts.count * cut.parts.size == length;
    if (cut.parts.count < 2 || (is_arg(node.reduce_kind) && !is_even)) return std::nullopt;
    return cut;
  }

  // Results are computed in tiles. If there are fewer tiles than workers, each worker sums a part
  // of the contracted axis (split-K).
  std::optional<Cut> choose_for_contraction(const Graph& graph, const Node& node) const {
    const View& view = node.operands[0].view;
    if (options_.batch_invariant) return std::nullopt;
    if (view.shape.numel() < kWorthSplittingProducts || view.shape.rank() == kMaxRank ||
        !std::has_single_bit(node.axes) || runs_alone(graph, node, options_))
      return std::nullopt;
    const int axis = std::countr_zero(node.axes);
    const std::int64_t tiles = ceil_div(node.shape.numel(), kProductTile);
    const std::int64_t count =
        std::min(parallelism_ / tiles, view.shape[axis] / kSmallestProductPart);
    if (count < 2) return std::nullopt;
    const std::int64_t size = view.shape[axis] / count / kEvenPart * kEvenPart;
    return Cut{axis, {view.shape[axis] / size, size}};
  }

 private:
  // `tasks`: workers that the reduction occupies without being split. A batch-invariant program
  // splits by the elements of one result, however many results there are.
  bool is_worth_splitting(std::int64_t elements, std::int64_t results, bool rows,
                          std::int64_t tasks) const {
    constexpr std::int64_t kWorthwhileParts = 16;
    if (options_.batch_invariant)
      return elements / results > (rows ? std::max(options_.whole_row, kWorthSplitting)
                                        : kWorthwhileParts * options_.smallest_column_part);
    return elements >= kWorthSplitting && tasks < parallelism_ &&
           (!rows || elements > options_.whole_row * results);
  }

  // Prefers equal parts with an aligned size, then equal parts; otherwise leaves a tail.
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

  const FusionOptions& options_;
  const int parallelism_;
};

class Splitter {
 public:
  Splitter(const Graph& source, const FusionOptions& options)
      : source_(source), options_(options), rewriter_(source), rounds_(source.nodes.size(), 0) {}

  Graph run() {
    const CutChooser chooser(options_);
    bool has_split = false;
    rewriter_.run([&](NodeId id) -> std::optional<Operand> {
      const Node& node = source_[id];
      round_ = 0;
      for (const Operand& operand : node.operands) round_ = std::max(round_, rounds_[operand.node]);
      rounds_[id] = round_ + (is_reduction(node.op) ? 1 : 0);
      if (!is_reduction(node.op)) return std::nullopt;
      build().set_keeps_innermost(node.keeps_innermost);
      if (node.op == Op::contract) {
        const std::optional<Cut> parts = chooser.choose_for_contraction(source_, node);
        if (!parts) return std::nullopt;
        return split_contraction(id, *parts);
      }
      std::optional<Operand> total = split_online(id);
      const std::optional<Cut> cut = total ? std::nullopt : chooser.choose(node);
      if (cut) total = is_arg(node.reduce_kind) ? split_arg(node, *cut) : split_plain(id, *cut);
      has_split |= total.has_value();
      return total;
    });
    Graph result = rewriter_.finish();
    // Nodes read only by a split reduction are computed in the parts' shape, so that they fuse.
    return has_split ? sink_views(remove_dead(std::move(result))) : result;
  }

 private:
  GraphBuilder& build() { return rewriter_.build(); }
  const Graph& result() const { return rewriter_.result(); }

  // Without fusion, every tensor of the program is rounded to its dtype; partial results are not.
  Operand widened(const Operand& operand) {
    return build().cast(operand, compute_dtype(result().dtype(operand)));
  }

  // The operand with its pointwise producers duplicated, so that the partial reduction's kernel
  // recomputes them, if that is cheaper than storing them. Reductions that can share a kernel (the
  // same `axes` and round) share the copies.
  Operand with_own_computation(const Operand& operand, std::uint32_t axes, bool tail) {
    if (!options_.fuse) return widened(operand);
    const Computation computation = computation_of(operand.node);
    if (computation.cost > options_.repeated_cost || computation.read.size() > kMostReadAgain)
      return operand;
    std::map<NodeId, NodeId>& copies = copies_[{round_, axes, tail}];
    for (NodeId id : computation.nodes) {
      if (copies.count(id)) continue;
      Node node = result()[id];
      for (Operand& each : node.operands)
        if (const auto it = copies.find(each.node); it != copies.end()) each.node = it->second;
      copies[id] = build().add(std::move(node)).node;
    }
    return {computation.nodes.empty() ? operand.node : copies.at(operand.node), operand.view};
  }

  // The pointwise nodes of full size that a node depends on, and the tensors they read. Stops once
  // it costs too much to recompute.
  struct Computation {
    std::set<NodeId> nodes;
    std::set<NodeId> read;
    int cost = 0;
  };
  Computation computation_of(NodeId last) const {
    Computation found;
    const std::int64_t size = result()[last].shape.numel();
    std::vector<NodeId> waiting{last};
    while (!waiting.empty() && found.cost <= options_.repeated_cost) {
      const NodeId id = waiting.back();
      waiting.pop_back();
      const Node& node = result()[id];
      if (node.shape.numel() < size || is_scalar(node.op) || node.op == Op::iota) continue;
      if (!is_pointwise(node.op)) {
        found.read.insert(id);
        continue;
      }
      if (!found.nodes.insert(id).second) continue;
      found.cost += std::max(1, info(node.op).cost);
      for (const Operand& operand : node.operands) waiting.push_back(operand.node);
    }
    return found;
  }

  // A split reduction: the partial results, the tail's result if there is a tail, and the total.
  struct Split {
    Operand main;  // operand of the partial reductions
    std::uint32_t main_axes = 0;
    Operand tail;
    std::uint32_t axes = 0;
    int parts_axis = 0;  // axis of `partial` that counts the parts
    Operand partial;
    std::optional<Operand> rest;
    Operand total;
  };

  Operand split_plain(NodeId id, const Cut& how) {
    const Node& node = source_[id];
    const Operand operand = rewriter_.moved(node.operands[0]);
    const std::int64_t length = operand.view.shape[how.axis];
    const std::int64_t whole_parts = how.parts.count * how.parts.size;
    Split split;
    split.axes = node.axes;
    split.main_axes = shifted(node.axes, how.axis);
    split.parts_axis = kept_position(node.axes, how.axis);
    split.main = with_own_computation(operand, node.axes, false);
    split.main.view = cut(slice(split.main.view, how.axis, 0, whole_parts, 1), how.axis, how.parts);
    split.partial = build().reduce(node.reduce_kind, split.main, split.main_axes);
    split.total = build().reduce(node.reduce_kind, split.partial, 1u << split.parts_axis);
    if (whole_parts < length) {
      split.tail = with_own_computation(operand, node.axes, true);
      split.tail.view = slice(split.tail.view, how.axis, whole_parts, length - whole_parts, 1);
      split.rest = build().reduce(node.reduce_kind, split.tail, node.axes);
      split.total = build().pointwise(info(node.reduce_kind).combine, {split.total, *split.rest});
    }
    split.total = build().cast(split.total, node.dtype);
    splits_[id] = split;
    return split.total;
  }

  Operand split_contraction(NodeId id, const Cut& how) {
    const Node node = rewriter_.moved_node(id);
    const std::int64_t length = node.operands[0].view.shape[how.axis];
    const std::int64_t whole_parts = how.parts.count * how.parts.size;
    const DType dtype = compute_dtype(node.dtype);
    const auto part = [&](std::size_t i, std::int64_t begin, std::int64_t size) {
      return Operand{node.operands[i].node, slice(node.operands[i].view, how.axis, begin, size, 1)};
    };
    Operand a = part(0, 0, whole_parts);
    Operand b = part(1, 0, whole_parts);
    a.view = cut(a.view, how.axis, how.parts);
    b.view = cut(b.view, how.axis, how.parts);
    const Operand partial = build().contract(a, b, shifted(node.axes, how.axis), dtype);
    Operand total =
        build().reduce(ReduceKind::sum, partial, 1u << kept_position(node.axes, how.axis));
    if (const std::int64_t rest = length - whole_parts; rest > 0)
      total = build().pointwise(
          Op::add, {total, build().contract(part(0, whole_parts, rest), part(1, whole_parts, rest),
                                            node.axes, dtype)});
    return build().cast(total, node.dtype);
  }

  // sum(exp(u - max(u))) for a split maximum: each part subtracts its own maximum, so one kernel
  // computes both. The total rescales the partial sums. Nothing for other reductions.
  std::optional<Operand> split_online(NodeId id) {
    const auto nodes = online_nodes(source_, id);
    if (!nodes || !options_.fuse || !splits_.count(nodes->max)) return std::nullopt;
    if (options_.repeated_cost < info(Op::exp).cost) return std::nullopt;  // exp is too costly
    const Split& max = splits_.at(nodes->max);
    const DType dtype = source_[nodes->max].dtype;
    // The f32 lowest() of at_least_finite() does not fit 16-bit floats.
    if (compute_dtype(dtype) != dtype) return std::nullopt;
    const auto sum_below = [&](const Operand& u, const Operand& tops, std::uint32_t axes) {
      const Operand spread{tops.node, row_broadcast(u.view.shape, axes)};
      const Operand below = build().pointwise(Op::sub, {u, spread});
      return build().reduce(ReduceKind::sum, build().pointwise(Op::exp, {below}), axes);
    };
    const auto corrected = [&](const Operand& sum, const Operand& tops, const View& total) {
      const Operand below = build().pointwise(Op::sub, {tops, {max.total.node, total}});
      return build().pointwise(Op::mul, {sum, build().pointwise(Op::exp, {below})});
    };
    const std::uint32_t over_parts = 1u << max.parts_axis;
    const Operand tops = at_least_finite(max.partial);
    const Operand partial = sum_below(max.main, tops, max.main_axes);
    const View spread = row_broadcast(partial.view.shape, over_parts);
    const Operand total =
        build().reduce(ReduceKind::sum, corrected(partial, tops, spread), over_parts);
    if (!max.rest) return total;
    const Operand top = at_least_finite(*max.rest);
    const Operand rest = sum_below(max.tail, top, max.axes);
    return build().pointwise(Op::add, {total, corrected(rest, top, rest.view)});
  }

  // A part of only -inf must sum to 0, not NaN; only a whole row of -inf gives NaN.
  Operand at_least_finite(const Operand& top) {
    const double least = result().dtype(top) == DType::f64
                             ? std::numeric_limits<double>::lowest()
                             : static_cast<double>(std::numeric_limits<float>::lowest());
    return build().pointwise(Op::maximum, {top, build().number_like(top, least)});
  }

  // argmax: the smallest position among the parts whose value equals the overall best.
  Operand split_arg(const Node& node, const Cut& how) {
    const Operand operand =
        with_own_computation(rewriter_.moved(node.operands[0]), node.axes, false);
    const Operand parts{operand.node, cut(operand.view, how.axis, how.parts)};
    const std::uint32_t axes = shifted(node.axes, how.axis);
    const ReduceKind kind = value_kind(node.reduce_kind);
    const Operand values = build().reduce(kind, parts, axes);
    const Operand in_part = build().reduce(node.reduce_kind, parts, axes);
    const int parts_axis = kept_position(node.axes, how.axis);
    const Shape& shape = values.view.shape;  // kept axes with the parts among them
    const Operand best = build().reduce(kind, values, 1u << parts_axis);

    Operand start = build().range(how.parts.count, Scalar::of(std::int64_t{0}),
                                  Scalar::of(how.parts.size), DType::i64);
    start.view = {shape, Shape::filled(shape.rank(), 0), 0};
    start.view.strides[parts_axis] = 1;
    const Operand position = build().pointwise(Op::add, {in_part, start});

    const Operand best_of_all{best.node, row_broadcast(shape, 1u << parts_axis)};
    Operand is_best = build().pointwise(Op::eq, {values, best_of_all});
    if (is_floating(result().dtype(values)))
      is_best =
          build().pointwise(Op::logical_or, {is_best, build().pointwise(Op::isnan, {values})});
    const Operand never =
        build().constant(Scalar::of(std::numeric_limits<std::int64_t>::max()), DType::i64, shape);
    const Operand candidate = build().pointwise(Op::where, {is_best, position, never});
    return build().reduce(ReduceKind::min, candidate, 1u << parts_axis);
  }

  const Graph& source_;
  const FusionOptions& options_;
  GraphRewriter rewriter_;
  ById<NodeId, int> rounds_;  // longest chain of reductions up to and including a node
  int round_ = 0;             // longest chain of reductions before the visited node
  // Duplicated producers (see with_own_computation()), by round, axes and is-tail.
  std::map<std::tuple<int, std::uint32_t, bool>, std::map<NodeId, NodeId>> copies_;
  std::map<NodeId, Split> splits_;  // by source node
};

}  // namespace

Graph split_reductions(Graph graph, const FusionOptions& options) {
  const CutChooser chooser(options);
  const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    if (node.op == Op::contract) return chooser.choose_for_contraction(graph, node).has_value();
    return node.op == Op::reduce && chooser.choose(node).has_value();
  });
  if (!any) return graph;
  return Splitter(graph, options).run();
}

}  // namespace sinter
