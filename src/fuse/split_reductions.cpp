// Splits reductions with fewer results than workers into partial reductions and a final one.
// In: a Graph and FusionOptions. Out: a Graph whose partial reductions fuse with their producers.
#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "src/fuse/online.h"
#include "src/fuse/plan.h"
#include "src/fuse/prepare.h"
#include "src/fuse/reduction_cuts.h"
#include "src/graph/rewriter.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

constexpr std::size_t kMostReadAgain = 2;  // tensors

// The axes mask after inserting a kept axis at `axis`.
std::uint32_t shifted(std::uint32_t axes, int axis) {
  const std::uint32_t low = axes & ((1u << axis) - 1);
  return low | (axes & ~((1u << axis) - 1)) << 1;
}

int kept_position(std::uint32_t axes, int axis) {
  return axis - std::popcount(axes & ((1u << axis) - 1));
}

// `view` with its axis cut into (count, size) at axis, axis + 1.
View cut(const View& view, const Cut& how) {
  View result = insert_axis(view, how.axis);
  result.shape[how.axis] = how.count;
  result.strides[how.axis] = view.strides[how.axis] * how.step;
  result.shape[how.axis + 1] = how.size;
  return result;
}

class Splitter {
 public:
  Splitter(const Graph& source, const FusionOptions& options)
      : source_(source),
        options_(options),
        chooser_(options),
        rewriter_(source),
        rounds_(source.nodes.size(), 0) {}

  Graph run() {
    bool has_split = false;
    rewriter_.run([&](NodeId id) -> std::optional<Operand> {
      const Node& node = source_[id];
      round_ = 0;
      for (const Operand& operand : node.operands) round_ = std::max(round_, rounds_[operand.node]);
      rounds_[id] = round_ + (is_reduction(node.op) ? 1 : 0);
      if (!is_reduction(node.op)) return std::nullopt;
      build().set_keeps_innermost(node.keeps_innermost);
      if (node.op == Op::contract) {
        const std::optional<Cut> parts = chooser_.choose_for_contraction(source_, node);
        if (!parts) return std::nullopt;
        return split_contraction(id, *parts);
      }
      std::optional<Operand> total = split_online(id);
      const std::optional<Cut> cut = total ? std::nullopt : chooser_.choose(node);
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
  Operand with_own_computation(const Operand& operand, std::uint32_t axes) {
    if (!options_.fuse) return widened(operand);
    const Computation computation = computation_of(operand.node);
    if (computation.cost > options_.repeated_cost || computation.read.size() > kMostReadAgain)
      return operand;
    std::map<NodeId, NodeId>& copies = copies_[{round_, axes}];
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

  // A split reduction: the partial results and the total.
  struct Split {
    Operand parts;  // operand of the partial reductions, which may overlap
    std::uint32_t axes = 0;
    std::optional<Operand> is_counted;  // which of its elements belong to their part; unset: all
    int parts_axis = 0;                 // axis of `partial` that counts the parts
    Operand partial;
    Operand total;
  };

  Operand split_plain(NodeId id, const Cut& how) {
    const Node& node = source_[id];
    // Without fusion, marking what is counted would take kernels that walk all elements.
    if (how.overlaps() && !is_idempotent(node.reduce_kind) && !options_.fuse)
      return split_with_rest(node, how);
    Split split;
    split.axes = shifted(node.axes, how.axis);
    split.parts_axis = kept_position(node.axes, how.axis);
    split.parts = with_own_computation(rewriter_.moved(node.operands[0]), node.axes);
    split.parts.view = cut(split.parts.view, how);
    if (how.overlaps()) split.is_counted = is_counted(split.parts.view.shape, how);
    split.partial =
        build().reduce(node.reduce_kind, counted(split, node.reduce_kind, split.parts), split.axes);
    split.total = total_of(node.reduce_kind, split.partial, split.parts_axis);
    split.total = build().cast(split.total, node.dtype);
    splits_[id] = split;
    return split.total;
  }

  Operand total_of(ReduceKind kind, const Operand& partial, int axis) {
    const std::optional<Cut> how = chooser_.choose_for_partials(partial.view.shape, axis);
    if (!how) return build().reduce(kind, partial, 1u << axis);
    Split split;
    split.axes = 1u << (axis + 1);
    split.parts = {partial.node, cut(partial.view, *how)};
    if (how->overlaps()) split.is_counted = is_counted(split.parts.view.shape, *how);
    const Operand fewer = build().reduce(kind, counted(split, kind, split.parts), split.axes);
    return build().reduce(kind, fewer, 1u << axis);
  }

  // Parts that do not overlap, and what they leave over.
  Operand split_with_rest(const Node& node, const Cut& how) {
    const Operand operand = widened(rewriter_.moved(node.operands[0]));
    const std::int64_t length = operand.view.shape[how.axis];
    const std::int64_t covered = how.count * how.step;
    const auto elements = [&](std::int64_t first, std::int64_t count) {
      return Operand{operand.node, slice(operand.view, how.axis, first, count, 1)};
    };
    Operand parts = elements(0, covered);
    parts.view = cut(parts.view, {how.axis, how.count, how.step, how.step});
    const Operand partial = build().reduce(node.reduce_kind, parts, shifted(node.axes, how.axis));
    const std::uint32_t over_parts = 1u << kept_position(node.axes, how.axis);
    const Operand total = build().reduce(node.reduce_kind, partial, over_parts);
    const Operand rest =
        build().reduce(node.reduce_kind, elements(covered, length - covered), node.axes);
    return build().cast(build().pointwise(info(node.reduce_kind).combine, {total, rest}),
                        node.dtype);
  }

  // Whether an element of a part is not also one of the next part: only the last part counts all.
  Operand is_counted(const Shape& shape, const Cut& how) {
    const DType dtype = narrow_or_wide(std::max(how.size, how.count));
    const auto number = [&](std::int64_t value) {
      return build().constant(Scalar::of(value), dtype, shape);
    };
    const auto index = [&](int axis) {
      Operand range = build().range(shape[axis], Scalar::of(std::int64_t{0}),
                                    Scalar::of(std::int64_t{1}), dtype);
      range.view = {shape, Shape::filled(shape.rank(), 0), 0};
      range.view.strides[axis] = 1;
      return range;
    };
    const Operand is_last = build().pointwise(Op::eq, {index(how.axis), number(how.count - 1)});
    const Operand end = build().pointwise(Op::where, {is_last, number(how.size), number(how.step)});
    return build().pointwise(Op::lt, {index(how.axis + 1), end});
  }

  static DType narrow_or_wide(std::int64_t size) {
    return size <= std::numeric_limits<std::int32_t>::max() ? DType::i32 : DType::i64;
  }

  // The elements with the reduction's identity in place of those that another part counts, if
  // counting them twice would show.
  Operand counted(const Split& split, ReduceKind kind, const Operand& elements) {
    if (!split.is_counted || is_idempotent(kind)) return elements;
    const DType dtype = result().dtype(elements);
    const Operand identity = build().constant(identity_of(kind, dtype), dtype, elements.view.shape);
    return build().pointwise(Op::where, {*split.is_counted, elements, identity});
  }

  Operand split_contraction(NodeId id, const Cut& how) {
    const Node node = rewriter_.moved_node(id);
    const std::int64_t length = node.operands[0].view.shape[how.axis];
    const std::int64_t whole_parts = how.count * how.size;
    const DType dtype = compute_dtype(node.dtype);
    const auto part = [&](std::size_t i, std::int64_t begin, std::int64_t size) {
      return Operand{node.operands[i].node, slice(node.operands[i].view, how.axis, begin, size, 1)};
    };
    Operand a = part(0, 0, whole_parts);
    Operand b = part(1, 0, whole_parts);
    a.view = cut(a.view, how);
    b.view = cut(b.view, how);
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
    const Operand tops = at_least_finite(max.partial);
    const Operand spread{tops.node, row_broadcast(max.parts.view.shape, max.axes)};
    const Operand powers = exp_below(max.parts, spread);
    const Operand partial =
        build().reduce(ReduceKind::sum, counted(max, ReduceKind::sum, powers), max.axes);
    const std::uint32_t over_parts = 1u << max.parts_axis;
    const Operand top{max.total.node, row_broadcast(partial.view.shape, over_parts)};
    const Operand corrected = build().pointwise(Op::mul, {partial, exp_below(tops, top)});
    return build().reduce(ReduceKind::sum, corrected, over_parts);
  }

  Operand exp_below(const Operand& u, const Operand& top) {
    return build().pointwise(Op::exp, {build().pointwise(Op::sub, {u, top})});
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
    const Operand operand = with_own_computation(rewriter_.moved(node.operands[0]), node.axes);
    const Operand parts{operand.node, cut(operand.view, how)};
    const std::uint32_t axes = shifted(node.axes, how.axis);
    const ReduceKind kind = value_kind(node.reduce_kind);
    const Operand values = build().reduce(kind, parts, axes);
    const Operand in_part = build().reduce(node.reduce_kind, parts, axes);
    const int parts_axis = kept_position(node.axes, how.axis);
    const Shape& shape = values.view.shape;  // kept axes with the parts among them
    const Operand best = build().reduce(kind, values, 1u << parts_axis);

    Operand start =
        build().range(how.count, Scalar::of(std::int64_t{0}), Scalar::of(how.step), DType::i64);
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
  const CutChooser chooser_;
  GraphRewriter rewriter_;
  ById<NodeId, int> rounds_;  // longest chain of reductions up to and including a node
  int round_ = 0;             // longest chain of reductions before the visited node
  // Duplicated producers (see with_own_computation()), by round and axes.
  std::map<std::tuple<int, std::uint32_t>, std::map<NodeId, NodeId>> copies_;
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
