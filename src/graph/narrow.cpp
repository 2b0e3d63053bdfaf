// Narrows integers to 32 bits where their values are known to fit: i64 halves the number of vector
// lanes. In: a Graph. Out: a Graph whose comparisons and casts read i32 instead of i64 where the
// results are the same. Outputs and operands of other operations stay i64.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "src/graph/rewriter.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

// Inclusive bounds on a node's values; both fit i32.
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

// Interval of a pointwise node, given its operands' intervals. Products of two i32 fit i64, so
// nothing overflows here.
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
  explicit Narrower(const Graph& source)
      : source_(source), rewriter_(source), narrowed_(source.nodes.size()) {
    for (const Node& node : source.nodes) {
      intervals_.push_back(interval_of(node));
      fits_.push_back(fits(node, intervals_.back()));
    }
  }

  Graph run() {
    rewriter_.run([this](NodeId id) -> std::optional<Operand> {
      const Node& node = source_[id];
      if (is_comparison(node.op)) return narrow_comparison(id);
      if (node.op == Op::cast) return narrow_cast(node);
      return std::nullopt;
    });
    return rewriter_.finish();
  }

 private:
  bool is_i64(const Operand& operand) const { return source_.dtype(operand) == DType::i64; }

  std::optional<Interval> interval_of(const Node& node) const {
    if (node.dtype == DType::boolean) return Interval{0, 1};
    if (is_floating(node.dtype)) return std::nullopt;
    std::optional<Interval> known;
    if (node.op == Op::constant) known = hull({node.value.as(DType::i64).integer});
    if (node.op == Op::iota) known = interval_of_iota(node);
    if (node.op == Op::number && hull({source_.numbers.traced_value(node.number).integer}))
      known = Interval{kLeast, kMost};  // guarded_narrow() adds the guard
    if (is_pointwise(node.op)) {
      std::vector<Interval> operands;
      for (const Operand& operand : node.operands)
        if (const auto& interval = intervals_[operand.node]; interval && !operand.view.is_padded())
          operands.push_back(*interval);
      if (operands.size() == node.operands.size()) known = interval_of_op(node.op, operands);
    }
    if (!known && node.dtype == DType::i32) known = Interval{kLeast, kMost};
    return known;
  }

  // Whether operand i needs no narrowing because its dtype is free and is not i64: the operand of a
  // cast, and the condition of where().
  bool is_read_as_it_is(const Node& node, std::size_t i) const {
    const bool any = node.op == Op::cast || (node.op == Op::where && i == 0);
    return any && !is_i64(node.operands[i]);
  }

  // Whether the node and everything it depends on can be computed in i32.
  bool fits(const Node& node, const std::optional<Interval>& interval) const {
    if (node.dtype == DType::i32) return true;
    const bool is_made_here = is_pointwise(node.op) || is_scalar(node.op) || node.op == Op::iota;
    if (node.dtype != DType::i64 || !interval || !is_made_here) return false;
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      if (!is_read_as_it_is(node, i) && !fits_[node.operands[i].node]) return false;
    return true;
  }

  // Whether the operand shows only values that can be computed in i32. The fill of a padded view
  // may be any i64.
  bool can_be_narrow(const Operand& operand) const {
    return fits_[operand.node] && !operand.view.is_padded();
  }

  // A node that fits, computed in i32. Not recursive: graphs may be tens of thousands deep.
  Operand narrowed(NodeId wanted) {
    std::vector<NodeId> waiting{wanted};
    while (!waiting.empty()) {
      const NodeId id = waiting.back();
      const Node& source = source_[id];
      if (source.dtype == DType::i32) narrowed_[id] = rewriter_.moved(id);
      if (!narrowed_[id]) {
        const std::size_t before = waiting.size();
        for (std::size_t i = source.operands.size(); i-- > 0;)
          if (!is_read_as_it_is(source, i) && !narrowed_[source.operands[i].node])
            waiting.push_back(source.operands[i].node);
        if (waiting.size() > before) continue;
        narrowed_[id] = add_narrow(source);
      }
      waiting.pop_back();
    }
    return *narrowed_[wanted];
  }

  Operand add_narrow(const Node& source) {
    Node node = source;
    node.dtype = DType::i32;
    if (node.op == Op::number) node.number = guarded_narrow(node.number);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      Operand& operand = node.operands[i];
      operand = is_read_as_it_is(source, i) ? rewriter_.moved(operand)
                                            : Operand{narrowed_[operand.node]->node, operand.view};
    }
    return rewriter_.build().add(std::move(node));
  }

  // The number in i32, with a guard that restricts the program to calls in which it fits.
  NumberId guarded_narrow(NumberId number) {
    NumberTable& numbers = rewriter_.build().numbers();
    const NumberId narrow = numbers.cast(number, DType::i32);
    const NumberId fits = numbers.apply(Op::eq, DType::i64, {number, narrow});
    numbers.is_guarded(fits, Scalar::of(std::int64_t{1}));
    return narrow;
  }

  std::optional<Operand> narrow_cast(const Node& cast) {
    const Operand& operand = cast.operands[0];
    if (!is_i64(operand) || cast.dtype == DType::i64 || !can_be_narrow(operand))
      return std::nullopt;
    const Operand narrow{narrowed(operand.node).node, operand.view};
    return rewriter_.build().cast(narrow, cast.dtype);
  }

  std::optional<Operand> narrow_comparison(NodeId id) {
    const Node& source = source_[id];
    if (!is_i64(source.operands[0])) return std::nullopt;
    std::optional<Operand> both[2];
    for (std::size_t i = 0; i < 2; ++i)
      if (const Operand& operand = source.operands[i]; can_be_narrow(operand))
        both[i] = Operand{narrowed(operand.node).node, operand.view};
    for (std::size_t i = 0; i < 2; ++i)
      if (!both[i] && both[1 - i])
        both[i] =
            clamped(rewriter_.moved(source.operands[i]), *intervals_[source.operands[1 - i].node]);
    if (!both[0] || !both[1]) return std::nullopt;
    return rewriter_.build().pointwise(source.op, {*both[0], *both[1]});
  }

  // Clamping an operand to one past each end of `others` keeps its comparisons with values in
  // `others`. The clamp costs work, so only operands broadcast along rows are clamped.
  std::optional<Operand> clamped(const Operand& operand, const Interval& others) {
    const View& view = operand.view;
    const int rank = view.shape.rank();
    if (rank == 0 || view.strides[rank - 1] != 0 || view.shape[rank - 1] < kWorthwhile ||
        others.low == kLeast || others.high == kMost)
      return std::nullopt;
    GraphBuilder& build = rewriter_.build();
    const auto number = [&](std::int64_t value) {
      return build.constant(Scalar::of(value), DType::i64, view.shape);
    };
    const Operand low = number(others.low - 1);
    const Operand high = number(others.high + 1);
    return build.cast(build.pointwise(Op::clamp, {operand, low, high}), DType::i32);
  }

  static constexpr std::int64_t kWorthwhile = 16;  // least elements that share a clamped value
  const Graph& source_;
  GraphRewriter rewriter_;
  ById<NodeId, std::optional<Interval>> intervals_;
  ById<NodeId, char> fits_;
  ById<NodeId, std::optional<Operand>> narrowed_;  // in i32; filled on demand
};

}  // namespace

Graph narrow_integers(Graph graph) {
  const bool may_narrow =
      std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
        return (is_comparison(node.op) || node.op == Op::cast) &&
               graph.dtype(node.operands[0]) == DType::i64;
      });
  if (!may_narrow) return graph;
  return Narrower(graph).run();
}

}  // namespace sinter
