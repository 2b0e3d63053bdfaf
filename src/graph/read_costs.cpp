// Costs follow from the graph: bytes that need not be written and read back, against operations and
// reads that are repeated.
#include "src/graph/read_costs.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "src/graph/part_reads.h"
#include "src/graph/power.h"

namespace sinter {
namespace {

constexpr int kMostWork = 2 * kHeavyCost;  // simple instructions per element of a pointwise node
constexpr int kMostReads = 8;              // tensors that one element is computed from
constexpr int kMostSelected = 4 * kHeavyCost;  // simple instructions per element of a concat
constexpr std::int64_t kMostReadAgain = 3;     // bytes read again per byte of the node itself
constexpr std::int64_t kMuchSmaller = 8;
constexpr std::int64_t kSmallConcat = std::int64_t{1} << 20;  // bytes
constexpr std::int64_t kVectorBytes = 16;

// What computing a node again takes, per element of it, if all it reads that may be is computed
// again as well.
struct Cost {
  bool allowed = false;
  int work = 0;
  int reads = 0;
  std::int64_t bytes = 0;  // read for all elements
};

struct Reader {
  NodeId node = -1;  // -1: the caller
  const Operand* operand = nullptr;
};

bool keeps_order(const View& view) {
  std::int64_t outer = 0;
  for (int i = 0; i < view.shape.rank(); ++i) {
    if (view.shape[i] == 1) continue;
    const std::int64_t step = std::abs(view.strides[i]);
    if (step == 0 || (outer != 0 && step >= outer)) return false;
    outer = step;
  }
  return true;
}

class RecomputedNodes {
 public:
  explicit RecomputedNodes(const Graph& graph)
      : graph_(graph),
        costs_(graph.nodes.size()),
        chosen_(graph.nodes.size()),
        readers_(graph.nodes.size()),
        is_returned_(graph.nodes.size(), 0) {}

  ById<NodeId, Recomputed> run() {
    if (!has_candidates()) return std::move(chosen_);
    for (NodeId id = 0; id < graph_.size(); ++id)
      for (const Operand& operand : graph_[id].operands)
        readers_[operand.node].push_back({id, &operand});
    for (const Operand& output : graph_.outputs) {
      readers_[output.node].push_back({-1, &output});
      is_returned_[output.node] = 1;
    }
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const Node& node = graph_[id];
      if (is_pointwise(node.op)) costs_[id] = pointwise_cost(id);
      if (node.op == Op::concat) costs_[id] = concat_cost(id);
    }
    // Readers first: a concat inside another is read where that one is.
    for (NodeId id = graph_.size() - 1; id >= 0; --id) {
      if (!costs_[id].allowed) continue;
      if (graph_[id].op == Op::concat)
        choose_concat(id);
      else
        chosen_[id] = {is_worth_repeating(id), false, true};
    }
    return std::move(chosen_);
  }

 private:
  // Whether there is a concat, or a view that would need a value in memory.
  bool has_candidates() const {
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& node) {
      const auto sees_elsewhere = [&](const Operand& operand) {
        return is_pointwise(graph_[operand.node].op) && reads_elsewhere(graph_, operand);
      };
      return node.op == Op::concat ||
             std::any_of(node.operands.begin(), node.operands.end(), sees_elsewhere);
    });
  }

  std::int64_t bytes_of(NodeId id) const {
    return graph_[id].shape.numel() * static_cast<std::int64_t>(size_of(graph_[id].dtype));
  }
  std::int64_t bytes_of(const Operand& operand) const {
    return distinct_elements(operand.view) *
           static_cast<std::int64_t>(size_of(graph_.dtype(operand)));
  }
  // Matrix products read their operands from memory.
  bool has_products(NodeId id) const {
    return std::any_of(readers_[id].begin(), readers_[id].end(), [&](const Reader& reader) {
      return reader.node >= 0 && graph_[reader.node].op == Op::contract;
    });
  }

  void add_read(const Operand& operand, Cost& cost) const {
    ++cost.reads;
    cost.bytes += bytes_of(operand);
  }
  void add_again(const Operand& operand, Cost& cost) const {
    const Cost& again = costs_[operand.node];
    cost.work += again.work;
    cost.reads += again.reads;
    const double share = static_cast<double>(distinct_elements(operand.view)) /
                         static_cast<double>(graph_[operand.node].shape.numel());
    cost.bytes += static_cast<std::int64_t>(static_cast<double>(again.bytes) * share);
  }

  Cost pointwise_cost(NodeId id) const {
    const Node& node = graph_[id];
    Cost cost{.work = cost_of(graph_, node)};
    if (cost.work >= kHeavyCost || node.shape.numel() == 0) return {};
    for (const Operand& operand : node.operands) {
      const Op op = graph_[operand.node].op;
      if (is_scalar(op)) continue;
      if (op == Op::iota)
        ++cost.work;
      else if (costs_[operand.node].allowed)
        add_again(operand, cost);
      else if (is_in_memory(operand, node))
        add_read(operand, cost);
      else
        return {};  // it would have to be in memory instead of this node
    }
    cost.allowed = cost.work <= kMostWork && cost.reads <= kMostReads &&
                   cost.bytes <= kMostReadAgain * bytes_of(id);
    return cost;
  }

  // Whether an operand that is not computed again is read from memory in any case, or is small.
  bool is_in_memory(const Operand& operand, const Node& reader) const {
    const Op op = graph_[operand.node].op;
    return op == Op::input || op == Op::concat || is_returned_[operand.node] ||
           reads_elsewhere(graph_, operand) ||
           distinct_elements(operand.view) * kMuchSmaller <= reader.shape.numel();
  }

  Cost concat_cost(NodeId id) const {
    Cost cost;
    if (graph_[id].shape.numel() == 0) return cost;
    for (const Operand& part : graph_[id].operands) {
      cost.work += 2;
      if (costs_[part.node].allowed)
        add_again(part, cost);
      else if (!is_scalar(graph_[part.node].op))
        add_read(part, cost);
    }
    cost.allowed = cost.work <= kMostSelected && cost.reads <= kMostReads;
    return cost;
  }

  // A pointwise node with readers that see its elements in other places. All others must see all of
  // them in order, so that the node need not be in memory.
  bool is_worth_repeating(NodeId id) const {
    if (has_products(id)) return false;
    int views = 0;
    for (const Reader& reader : readers_[id]) {
      if (!reads_elsewhere(graph_, *reader.operand)) continue;
      if (reader.node < 0 || !keeps_order(inside_window(reader.operand->view))) return false;
      ++views;
    }
    return views > 0 && views * costs_[id].work <= kMostSelected &&
           views * costs_[id].reads <= 2 * kMostReads;
  }

  // Whether the part is computed by a kernel that could write it into the concat.
  bool is_computed_in_place(const Operand& part) const {
    const Op op = graph_[part.node].op;
    return readers_[part.node].size() == 1 && (is_pointwise(op) || is_reduction(op)) &&
           is_whole(graph_, part);
  }

  void choose_concat(NodeId id) {
    bool is_stored = is_returned_[id] != 0;
    bool is_computed_on = false;
    std::vector<const View*> views;
    for (const Reader& reader : readers_[id]) {
      if (reader.node < 0) continue;
      const Op op = graph_[reader.node].op;
      const bool is_part = op == Op::concat && !chosen_[reader.node].at_readers;
      is_stored |= op == Op::contract || is_part;
      if (op == Op::contract || is_part) continue;
      is_computed_on = true;
      const View& view = reader.operand->view;
      if (views.size() > kMostReads) continue;  // too many already
      if (std::none_of(views.begin(), views.end(), [&](const View* v) { return *v == view; }))
        views.push_back(&view);
    }
    if (is_computed_on) {
      const bool is_cheaper = saved_bytes(id, is_stored) > 0 && are_readable(id, views);
      chosen_[id] = {is_cheaper, is_cheaper && is_stored, is_cheaper};
    } else {
      chosen_[id].as_node = is_cheaper_in_one(id);
    }
  }

  // Bytes that need not be moved if readers select among the parts. Parts that are not computed
  // into the concat are copied there.
  std::int64_t saved_bytes(NodeId id, bool is_stored) const {
    std::int64_t saved = 0;
    for (const Operand& part : graph_[id].operands) {
      const std::int64_t bytes =
          part.view.shape.numel() * static_cast<std::int64_t>(size_of(graph_.dtype(part)));
      if (costs_[part.node].allowed || !is_computed_in_place(part))
        saved += is_stored ? bytes : 2 * bytes;
      else if (is_stored)
        saved -= bytes;
    }
    return saved;
  }

  bool are_readable(NodeId id, const std::vector<const View*>& views) const {
    std::size_t parts = 0;
    if (views.size() > kMostReads) return false;
    for (const View* view : views) {
      const auto visible = visible_parts(graph_[id], *view);
      if (!visible) return false;
      parts += visible->parts.size();
    }
    return parts <= 2 * kMostReads;
  }

  // A concat that is only stored, of parts of several sizes: parts of one size share a kernel that
  // writes each element once.
  bool is_cheaper_in_one(NodeId id) const {
    const Node& concat = graph_[id];
    const auto axis = static_cast<int>(concat.axes);
    const Shape& first = concat.operands[0].view.shape;
    bool is_even = true;
    bool has_one_size = true;
    std::int64_t inner = static_cast<std::int64_t>(size_of(concat.dtype));
    for (int i = axis + 1; i < concat.shape.rank(); ++i) inner *= concat.shape[i];
    for (const Operand& part : concat.operands) {
      if (!costs_[part.node].allowed && is_computed_in_place(part)) return false;
      is_even &= part.view.shape[axis] * inner % kVectorBytes == 0;
      has_one_size &= part.view.shape == first;
    }
    if (inner > static_cast<std::int64_t>(size_of(concat.dtype)))
      is_even &=
          concat.shape.back() * static_cast<std::int64_t>(size_of(concat.dtype)) % kVectorBytes ==
          0;
    return !has_one_size && costs_[id].reads <= kMostReads / 2 &&
           (is_even || bytes_of(id) <= kSmallConcat);
  }

  const Graph& graph_;
  ById<NodeId, Cost> costs_;
  ById<NodeId, Recomputed> chosen_;
  ById<NodeId, std::vector<Reader>> readers_;
  ById<NodeId, char> is_returned_;
};

}  // namespace

bool reads_elsewhere(const Graph& graph, const Operand& operand) {
  return operand.view.is_padded() || !is_identity(operand.view) ||
         operand.view.shape.numel() != graph[operand.node].shape.numel();
}

ById<NodeId, Recomputed> find_recomputed(const Graph& graph) {
  return RecomputedNodes(graph).run();
}

}  // namespace sinter
