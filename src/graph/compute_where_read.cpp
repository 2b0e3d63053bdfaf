// The pass compute_where_read: what a kernel sees through slices, shifts, padding and concats it
// computes from what lies in memory. In: a Graph. Out: a Graph with fewer values that several
// kernels have to share.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/graph/part_reads.h"
#include "src/graph/read_costs.h"
#include "src/graph/rewriter.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

// Whether what a reader sees outside the window of a padded view must be the view's number, or may
// be anything because the reader does not use it.
enum class Outside : std::uint8_t { seen, unused };

class WhereRead {
 public:
  WhereRead(const Graph& graph, const ById<NodeId, Recomputed>& chosen)
      : graph_(graph), chosen_(chosen), rewriter_(graph), build_(rewriter_.build()) {}

  Graph run() {
    rewriter_.run([&](NodeId id) { return rewritten(id); });
    Graph result = rewriter_.finish();
    widen_windows(result);
    return result;
  }

 private:
  std::optional<Operand> rewritten(NodeId id) {
    const Node& node = graph_[id];
    if (node.op == Op::concat && chosen_[id].as_node)
      if (const auto selected = select(graph_.whole(id), Outside::seen))
        return build_.unpadded(*selected);
    if (node.op == Op::contract || is_unchanged(node)) return std::nullopt;
    Node changed = node;
    for (Operand& operand : changed.operands) {
      std::optional<Operand> seen;
      if (chosen_[operand.node].at_readers) seen = read(operand, Outside::seen);
      operand = seen ? *seen : rewriter_.moved(operand);
      if (!is_pointwise(node.op)) operand = build_.unpadded(operand);
    }
    return build_.add(std::move(changed));
  }

  bool is_unchanged(const Node& node) const {
    return std::none_of(node.operands.begin(), node.operands.end(),
                        [&](const Operand& operand) { return chosen_[operand.node].at_readers; });
  }

  // What an operand of the source sees, as an operand of the result; nullopt if views do not
  // compose.
  std::optional<Operand> read(const Operand& operand, Outside outside) {
    const Op op = graph_[operand.node].op;
    const bool is_again = chosen_[operand.node].allowed && operand.view.shape.numel() > 0 &&
                          (op == Op::concat || reads_elsewhere(graph_, operand));
    if (!is_again) return from_memory(operand, outside);
    Hasher hasher;
    add_key(hasher, operand);
    hasher.add(static_cast<std::uint64_t>(outside));
    const Hash128 key = hasher.finish();
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    std::optional<Operand> seen;
    if (operand.view.is_padded() && outside == Outside::seen)
      seen = filled(operand);
    else
      seen = op == Op::concat ? select(operand, outside) : repeated(operand, outside);
    if (seen) known_.emplace(key, *seen);
    return seen;
  }

  Operand from_memory(const Operand& operand, Outside outside) {
    if (is_scalar(graph_[operand.node].op) && outside == Outside::unused) {
      const Shape& shape = operand.view.shape;
      return rewriter_.moved({operand.node, {shape, Shape::filled(shape.rank(), 0), 0}});
    }
    return rewriter_.moved(operand);
  }

  // The view's number outside its window.
  std::optional<Operand> filled(const Operand& operand) {
    const auto inside = read(operand, Outside::unused);
    if (!inside) return std::nullopt;
    const DType dtype = graph_.dtype(operand);
    const Operand fill = build_.constant(operand.view.window->fill, dtype, operand.view.shape);
    return where(build_.is_in_window(operand.view), *inside, fill);
  }

  Operand where(const Operand& condition, const Operand& a, const Operand& b) {
    Operand made = build_.add({.op = Op::where,
                               .dtype = build_.graph().dtype(a),
                               .shape = a.view.shape,
                               .operands = {condition, a, b}});
    if (a.view.is_padded()) unused_outside_.push_back({made.node, 1});
    if (b.view.is_padded()) unused_outside_.push_back({made.node, 2});
    return made;
  }

  // A pointwise node for the elements that the view shows.
  std::optional<Operand> repeated(const Operand& operand, Outside outside) {
    const Node& source = graph_[operand.node];
    Node node = source;
    node.shape = operand.view.shape;
    std::vector<std::size_t> unused;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      Operand& read_by_it = node.operands[i];
      const bool is_padded = read_by_it.view.is_padded();
      const Scalar zero = Scalar::of(std::int64_t{0}).as(graph_.dtype(read_by_it));
      const Scalar fill = is_padded ? read_by_it.view.window->fill : zero;
      const auto view = compose(with_fill(operand.view, fill), read_by_it.view);
      if (!view) return std::nullopt;
      const Outside around = is_padded ? Outside::seen : outside;
      const auto seen = read({read_by_it.node, *view}, around);
      if (!seen) return std::nullopt;
      read_by_it = *seen;
      if (read_by_it.view.is_padded() && around == Outside::unused) unused.push_back(i);
    }
    const Operand made = build_.add(std::move(node));
    for (const std::size_t i : unused) unused_outside_.push_back({made.node, i});
    return made;
  }

  // Selects among the visible parts of a concat by the index along its axis.
  std::optional<Operand> select(const Operand& operand, Outside outside) {
    const auto visible = visible_parts(graph_[operand.node], operand.view);
    if (!visible || visible->parts.empty()) return std::nullopt;
    const std::vector<VisiblePart>& parts = visible->parts;
    if (parts.size() == 1) return read(parts[0].seen, outside);
    if (auto padded = with_number(*visible, operand.view)) return padded;
    std::optional<Operand> selected;
    for (std::size_t i = parts.size(); i-- > 0;) {
      const auto part = read(parts[i].seen, Outside::unused);
      if (!part) return std::nullopt;
      selected = selected ? where(is_before(parts[i + 1].first, operand.view.shape, visible->axis),
                                  *part, *selected)
                          : *part;
    }
    return selected;
  }

  // A part in memory beside a constant is that part, padded with the constant.
  std::optional<Operand> with_number(const VisibleParts& visible, const View& view) {
    if (visible.parts.size() != 2 || view.is_padded()) return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i) {
      const Node& number = graph_[visible.parts[i].seen.node];
      const Operand& other = visible.parts[1 - i].seen;
      const bool is_read = !is_scalar(graph_[other.node].op) && !chosen_[other.node].allowed;
      if (number.op != Op::constant || !is_read || visible.parts[1 - i].is_padded) continue;
      return rewriter_.moved({other.node, with_fill(other.view, number.value)});
    }
    return std::nullopt;
  }

  // index < bound along an axis of the shape.
  Operand is_before(std::int64_t bound, const Shape& shape, int axis) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const DType dtype = shape[axis] < kMost ? DType::i32 : DType::i64;
    Operand index =
        build_.range(shape[axis], Scalar::of(std::int64_t{0}), Scalar::of(std::int64_t{1}), dtype);
    index.view = {shape, Shape::filled(shape.rank(), 0), 0};
    index.view.strides[axis] = 1;
    return build_.pointwise(Op::lt, {index, build_.constant(Scalar::of(bound), dtype, shape)});
  }

  // Where nothing outside the windows is used, reads of one tensor at the same places share a load
  // if they need no window: the two halves of x in concat(-x2 + x1, x2 + x1).
  void widen_windows(Graph& graph) const {
    std::map<NodeId, Reads> reads;
    for (const UnusedOutside& read : unused_outside_)
      reads[graph[read.node].operands[read.operand].node];
    if (reads.empty()) return;
    for_each_operand(graph, [&](const Operand& operand) {
      if (const auto it = reads.find(operand.node); it != reads.end())
        add(operand.view, it->second);
    });
    for (const UnusedOutside& read : unused_outside_) {
      Operand& operand = graph[read.node].operands[read.operand];
      const Reads& known = reads[operand.node];
      const View whole = without_window(operand.view);
      const Extent range = extent(whole);
      const bool is_read = range.first >= known.memory.first && range.last <= known.memory.last;
      if (is_read && known.windows.at(key_of(whole)).are_several) operand.view = whole;
    }
  }

  // The windows through which a tensor is read at the same places.
  struct Windows {
    View first;
    bool are_several = false;
  };
  struct Reads {
    Extent memory{std::numeric_limits<std::int64_t>::max(), -1};
    std::unordered_map<Hash128, Windows, Hash128Hasher> windows = {};  // by view without a window
  };

  static void add(const View& view, Reads& reads) {
    if (view.shape.numel() == 0) return;
    const Extent range = extent(view);
    reads.memory = {std::min(reads.memory.first, range.first),
                    std::max(reads.memory.last, range.last)};
    const auto [it, fresh] = reads.windows.try_emplace(key_of(without_window(view)), Windows{view});
    if (!fresh && !(it->second.first == view)) it->second.are_several = true;
  }

  static View without_window(const View& view) { return {view.shape, view.strides, view.offset}; }

  static Hash128 key_of(const View& view) {
    Hasher hasher;
    add_key(hasher, view);
    return hasher.finish();
  }

  struct UnusedOutside {
    NodeId node;
    std::size_t operand;
  };

  const Graph& graph_;
  const ById<NodeId, Recomputed>& chosen_;
  GraphRewriter rewriter_;
  GraphBuilder& build_;
  std::unordered_map<Hash128, Operand, Hash128Hasher> known_;
  // Operands of the result that read through padded views whose number nothing uses.
  std::vector<UnusedOutside> unused_outside_;
};

}  // namespace

Graph compute_where_read(Graph graph) {
  const ById<NodeId, Recomputed> chosen = find_recomputed(graph);
  const bool is_any = std::any_of(chosen.begin(), chosen.end(), [](const Recomputed& each) {
    return each.at_readers || each.as_node;
  });
  if (!is_any) return graph;
  return drop_unit_axes(WhereRead(graph, chosen).run());  // views have unit axes
}

}  // namespace sinter
