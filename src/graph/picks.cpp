// sum(where(index == target, f(x), 0)) picks one element of each row. Where f adds, multiplies or
// exponentiates with values of the row, x is picked instead, and f computed once per row: a loss
// needs no pass of its own after the reductions that its log-probabilities depend on.
// In: a Graph. Out: the same values; only the sign of a picked zero may differ.
#include <optional>
#include <vector>

#include "src/graph/rewriter.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

// A sum of where(index == target, value, 0) along `axis`.
struct Pick {
  Operand is_target;
  Operand target;  // repeated along the axis
  Operand value;
  int axis = -1;
};

bool is_repeated_along(const View& view, int axis) {
  return view.strides[axis] == 0 && !view.is_padded();
}

class Picks {
 public:
  explicit Picks(const Graph& source) : source_(source), rewriter_(source) {}

  bool has_picks() const {
    for (const Node& node : source_.nodes)
      if (const std::optional<Pick> pick = find_pick(node); pick && moves_past_work(*pick))
        return true;
    return false;
  }

  Graph run() {
    rewriter_.run([this](NodeId id) { return picked_early(id); });
    return rewriter_.finish();
  }

 private:
  GraphBuilder& build() { return rewriter_.build(); }

  std::optional<Operand> picked_early(NodeId id) {
    const Node& sum = source_[id];
    const std::optional<Pick> pick = find_pick(sum);
    if (!pick || !moves_past_work(*pick)) return std::nullopt;
    picked_.reset();
    const Operand value = per_row(*pick, pick->value);
    const Operand zero = build().number_like(value, 0);
    const Operand rows = build().pointwise(Op::where, {is_in_range(*pick), value, zero});
    std::uint32_t others = 0;  // of the sum's axes, as numbered without the picked one
    for (int axis = 0, kept = 0; axis < sum.operands[0].view.shape.rank(); ++axis) {
      if (axis == pick->axis) continue;
      if (sum.axes >> axis & 1) others |= 1u << kept;
      ++kept;
    }
    const Operand total = others == 0 ? rows : build().reduce(ReduceKind::sum, rows, others);
    return build().cast(total, sum.dtype);
  }

  std::optional<Pick> find_pick(const Node& sum) const {
    if (sum.op != Op::reduce || sum.reduce_kind != ReduceKind::sum || !is_floating(sum.dtype) ||
        !is_whole(source_, sum.operands[0]))
      return std::nullopt;
    const Node& where = source_[sum.operands[0].node];
    if (where.op != Op::where || !is_zero(where.operands[2]) ||
        !is_whole(source_, where.operands[0]))
      return std::nullopt;
    const Node& equal = source_[where.operands[0].node];
    if (equal.op != Op::eq) return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i) {
      const int axis = index_axis(equal.operands[i]);
      const Operand& target = equal.operands[1 - i];
      if (axis >= 0 && (sum.axes >> axis & 1) && is_repeated_along(target.view, axis) &&
          is_integer(source_.dtype(target)))
        return Pick{where.operands[0], target, where.operands[1], axis};
    }
    return std::nullopt;
  }

  static bool is_integer(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

  bool is_zero(const Operand& operand) const {
    const Node& node = source_[operand.node];
    return node.op == Op::constant && node.value.as(DType::f64).real == 0;
  }

  // The axis along which the operand is 0, 1, .. in all of its length; -1 if there is none.
  int index_axis(const Operand& operand) const {
    const Node& node = source_[operand.node];
    if (node.op == Op::cast && is_integer(node.dtype) && is_whole(source_, operand))
      return index_axis(node.operands[0]);
    const Scalar zero = Scalar::of(std::int64_t{0}).as(node.dtype);
    const Scalar one = Scalar::of(std::int64_t{1}).as(node.dtype);
    if (node.op != Op::iota || !is_integer(node.dtype) || !same_bits(node.value, zero) ||
        !same_bits(node.step, one) || operand.view.is_padded() || operand.view.offset != 0)
      return -1;
    int found = -1;
    for (int axis = 0; axis < operand.view.shape.rank(); ++axis) {
      if (operand.view.strides[axis] == 0) continue;
      if (found >= 0 || operand.view.strides[axis] != 1) return -1;
      found = axis;
    }
    return found;
  }

  // The operands through which a picked value may be followed. Of 0 and -0 these make results that
  // differ in a zero's sign only.
  bool may_follow(const Operand& operand, int axis) const {
    const Node& node = source_[operand.node];
    if (!is_whole(source_, operand) || !is_floating(node.dtype)) return false;
    switch (node.op) {
      case Op::add:
      case Op::sub:
      case Op::mul:
      case Op::neg:
      case Op::exp:
      case Op::log:
        return true;
      case Op::cast:
        return is_floating(source_.dtype(node.operands[0]));
      case Op::div:
        return is_repeated_along(node.operands[1].view, axis);
      default:
        return false;
    }
  }

  // Whether there is work to be done once per row instead of before the pick, on one value only.
  bool moves_past_work(const Pick& pick) const {
    std::vector<Operand> waiting{pick.value};
    std::optional<Operand> found;
    constexpr int kMostVisited = 32;
    for (int visited = 0; !waiting.empty(); ++visited) {
      const Operand operand = waiting.back();
      waiting.pop_back();
      if (visited == kMostVisited) return false;
      if (is_repeated_along(operand.view, pick.axis)) continue;
      if (may_follow(operand, pick.axis)) {
        const std::vector<Operand>& next = source_[operand.node].operands;
        waiting.insert(waiting.end(), next.begin(), next.end());
      } else if (!found) {
        found = operand;
      } else if (!(*found == operand)) {
        return false;
      }
    }
    return found && !(*found == pick.value);
  }

  // What an operand is at each row's target.
  Operand per_row(const Pick& pick, const Operand& operand) {
    if (is_repeated_along(operand.view, pick.axis)) return without_axis(operand, pick.axis);
    if (!may_follow(operand, pick.axis)) return picked(pick, operand);
    const Node& node = source_[operand.node];
    std::vector<Operand> operands;
    for (const Operand& each : node.operands) operands.push_back(per_row(pick, each));
    if (node.op == Op::cast) return build().cast(operands[0], node.dtype);
    return build().pointwise(node.op, operands);
  }

  Operand picked(const Pick& pick, const Operand& operand) {
    if (picked_) return *picked_;
    const Operand value = rewriter_.moved(operand);
    const Operand zero = build().number_like(value, 0);
    const Operand chosen =
        build().pointwise(Op::where, {rewriter_.moved(pick.is_target), value, zero});
    picked_ = build().reduce(ReduceKind::sum, chosen, 1u << pick.axis);
    return *picked_;
  }

  Operand without_axis(const Operand& operand, int axis) {
    const Operand moved = rewriter_.moved(operand);
    return {moved.node, remove_axis(slice(moved.view, axis, 0, 1, 1), axis)};
  }

  // Other targets pick nothing: their sum is 0.
  Operand is_in_range(const Pick& pick) {
    const Operand target = without_axis(pick.target, pick.axis);
    const DType dtype = build().graph().dtype(target);
    const auto number = [&](std::int64_t value) {
      return build().constant(Scalar::of(value).as(dtype), dtype, target.view.shape);
    };
    const std::int64_t length = pick.target.view.shape[pick.axis];
    const Operand from = build().pointwise(Op::ge, {target, number(0)});
    const Operand below = build().pointwise(Op::lt, {target, number(length)});
    return build().pointwise(Op::logical_and, {from, below});
  }

  const Graph& source_;
  GraphRewriter rewriter_;
  std::optional<Operand> picked_;  // of the current pick
};

}  // namespace

Graph pick_before_work(Graph graph) {
  Picks picks(graph);
  if (!picks.has_picks()) return graph;
  return picks.run();
}

}  // namespace sinter
