// Integers in 32 bits where their values are known to fit: a kernel that holds i64 has half the
// lanes. In: a Graph. Out: one whose comparisons and casts read i32 instead of i64 where that gives
// the same results. What the caller sees, and what others read, stays i64.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "src/graph/simplify.h"

namespace sinter {
namespace {

// All values lie in here, and i32 holds them.
struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

std::optional<Interval> hull(std::initializer_list<std::int64_t> values) {
  const Interval all{std::min(values), std::max(values)};
  if (all.low < kLeast || all.high > kMost) return std::nullopt;
  return all;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::optional<Interval> interval_of_iota(const Node& node) {
  const std::int64_t count = node.shape.numel();
  const auto fits = [](std::int64_t x) { return x >= kLeast && x <= kMost; };
  if (node.value.is_real || node.step.is_real || count < 1 || !fits(count) ||
      !fits(node.value.integer) || !fits(node.step.integer))
    return std::nullopt;
  return hull({node.value.integer, node.value.integer + node.step.integer * (count - 1)});
}

// Of a pointwise node, given its operands'. Products of two i32 fit i64, so nothing overflows here.
std::optional<Interval> interval_of_op(Op op, const std::vector<Interval>& in) {
  const Interval a = in[0];
  const Interval b = in.size() > 1 ? in[1] : Interval{};
  const Interval c = in.size() > 2 ? in[2] : Interval{};
  const bool by_one_number = b.low == b.high && b.low != 0;
  switch (op) {
    case Op::copy:
    case Op::cast:
      return a;
    case Op::add:
      return hull({a.low + b.low, a.high + b.high});
    case Op::sub:
      return hull({a.low - b.high, a.high - b.low});
    case Op::mul:
      return hull({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    case Op::square:
      return hull({0, a.low * a.low, a.high * a.high});
    case Op::neg:
      return hull({-a.low, -a.high});
    case Op::abs:
      return hull({0, -a.low, a.low, a.high});
    case Op::maximum:
      return hull({std::max(a.low, b.low), std::max(a.high, b.high)});
    case Op::minimum:
      return hull({std::min(a.low, b.low), std::min(a.high, b.high)});
    case Op::clamp:
      return hull(
          {std::min(std::max(a.low, b.low), c.low), std::min(std::max(a.high, b.high), c.high)});
    case Op::where:
      return hull({b.low, b.high, c.low, c.high});
    case Op::floor_div:
      if (!by_one_number) return std::nullopt;
      return hull({floor_div(a.low, b.low), floor_div(a.high, b.low)});
    case Op::remainder:
      if (!by_one_number) return std::nullopt;
      return b.low > 0 ? hull({0, b.low - 1}) : hull({b.low + 1, 0});
    default:
      return std::nullopt;
  }
}

bool is_comparison(Op op) { return op >= Op::eq && op <= Op::ge; }

class Narrower {
 public:
  explicit Narrower(const Graph& source) : source_(source) {
    for (const Node& node : source.nodes) intervals_.push_back(interval_of(node));
  }

  Graph run() {
    for (NodeId id = 0; id < source_.size(); ++id) {
      Node node = source_[id];
      const bool is_input = node.op == Op::input;
      for (Operand& operand : node.operands) operand.node = moved(operand.node);
      if (is_comparison(node.op)) narrow_comparison(source_[id], node);
      if (node.op == Op::cast) narrow_cast(source_[id], node);
      moved_.push_back(result_.add(std::move(node)));
      if (is_input) result_.inputs.push_back(moved_.back());
    }
    for (const Operand& output : source_.outputs)
      result_.outputs.push_back({moved(output.node), output.view});
    return std::move(result_);
  }

 private:
  NodeId moved(NodeId id) const { return moved_[static_cast<std::size_t>(id)]; }
  const std::optional<Interval>& interval(NodeId id) const {
    return intervals_[static_cast<std::size_t>(id)];
  }
  bool is_i64(const Operand& operand) const { return source_[operand.node].dtype == DType::i64; }

  std::optional<Interval> interval_of(const Node& node) const {
    if (node.dtype == DType::boolean) return Interval{0, 1};
    if (is_floating(node.dtype)) return std::nullopt;
    std::optional<Interval> known;
    if (node.op == Op::constant) known = hull({node.value.as(DType::i64).integer});
    if (node.op == Op::iota) known = interval_of_iota(node);
    if (is_pointwise(node.op)) {
      std::vector<Interval> operands;
      for (const Operand& operand : node.operands)
        if (interval(operand.node)) operands.push_back(*interval(operand.node));
      if (operands.size() == node.operands.size()) known = interval_of_op(node.op, operands);
    }
    if (!known && node.dtype == DType::i32) known = Interval{kLeast, kMost};
    return known;
  }

  // The node of the result that has the values of an i64 node in i32.
  std::optional<NodeId> narrowed(NodeId id) {
    const Node& source = source_[id];
    if (source.dtype == DType::i32) return moved(id);
    if (source.dtype != DType::i64 || !interval(id)) return std::nullopt;
    if (const auto it = narrowed_.find(id); it != narrowed_.end()) return it->second;
    Node node = source;
    node.dtype = DType::i32;
    if (source.op == Op::input || source.op == Op::reduce || source.op == Op::concat)
      return std::nullopt;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      NodeId& operand = node.operands[i].node;
      const bool as_it_is = source.op == Op::cast || (source.op == Op::where && i == 0);
      std::optional<NodeId> target = moved(operand);
      if (!as_it_is || source_[operand].dtype == DType::i64) target = narrowed(operand);
      if (!target) return std::nullopt;
      operand = *target;
    }
    return narrowed_[id] = result_.add(std::move(node));
  }

  void narrow_cast(const Node& source, Node& node) {
    const Operand& operand = source.operands[0];
    if (!is_i64(operand) || node.dtype == DType::i64) return;
    if (const std::optional<NodeId> target = narrowed(operand.node))
      node.operands[0].node = *target;
  }

  void narrow_comparison(const Node& source, Node& node) {
    if (!is_i64(source.operands[0])) return;
    std::optional<Operand> both[2];
    for (std::size_t i = 0; i < 2; ++i)
      if (const std::optional<NodeId> target = narrowed(source.operands[i].node))
        both[i] = Operand{*target, source.operands[i].view};
    for (std::size_t i = 0; i < 2; ++i)
      if (!both[i] && both[1 - i])
        both[i] = clamped(node.operands[i], *interval(source.operands[1 - i].node));
    if (both[0] && both[1]) node.operands = {*both[0], *both[1]};
  }

  // A number of any size, compared with some in `others`, may as well be the nearest in there or
  // next to it. That costs work of its own, so only what is repeated along rows is clamped.
  std::optional<Operand> clamped(const Operand& operand, const Interval& others) {
    const View& view = operand.view;
    const int rank = view.shape.rank();
    if (rank == 0 || view.strides[rank - 1] != 0 || view.shape[rank - 1] < kWorthwhile ||
        others.low == kLeast || others.high == kMost)
      return std::nullopt;
    Node clamp;
    clamp.op = Op::clamp;
    clamp.dtype = DType::i64;
    clamp.shape = view.shape;
    clamp.operands = {operand, number(others.low - 1, view.shape),
                      number(others.high + 1, view.shape)};
    Node cast;
    cast.op = Op::cast;
    cast.dtype = DType::i32;
    cast.shape = view.shape;
    cast.operands = {whole(result_.add(std::move(clamp)))};
    return whole(result_.add(std::move(cast)));
  }

  Operand number(std::int64_t value, const Shape& shape) {
    Node node;
    node.op = Op::constant;
    node.dtype = DType::i64;
    node.value = Scalar::of(value);
    return {result_.add(std::move(node)), expand(dense_view({}), shape)};
  }
  Operand whole(NodeId id) const { return {id, dense_view(result_[id].shape)}; }

  static constexpr std::int64_t kWorthwhile = 16;  // elements that share a clamped number
  const Graph& source_;
  std::vector<std::optional<Interval>> intervals_;
  std::vector<NodeId> moved_;
  std::map<NodeId, NodeId> narrowed_;
  Graph result_;
};

}  // namespace

Graph narrow_integers(const Graph& graph) { return Narrower(graph).run(); }

}  // namespace sinter
