// The simplifier's passes. Views carry no nodes, so "view folding" is moving an operand's view
// through the pointwise node it reads.
#include "src/graph/simplify.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <tuple>

#include "src/base/check.h"
#include "src/graph/scalar_math.h"

namespace sinter {
namespace {

template <typename T>
T scalar_to(const Scalar& s) {
  if constexpr (scalar::kIsReal<T>)
    return static_cast<T>(s.real);
  else if constexpr (std::is_same_v<T, bool>)
    return s.integer != 0;
  else
    return T(s.integer);
}

template <typename T>
Scalar scalar_from(T value) {
  if constexpr (scalar::kIsReal<T>)
    return Scalar::of(static_cast<double>(value));
  else if constexpr (std::is_same_v<T, bool>)
    return Scalar::of(static_cast<std::int64_t>(value));
  else
    return Scalar::of(static_cast<std::int64_t>(value.value));
}

template <typename T>
std::optional<Scalar> evaluate_as(Op op, const std::array<Scalar, 3>& v) {
  std::optional<Scalar> result;
  scalar::visit_pointwise<T>(op, [&]<typename F>(F f) {
    if constexpr (std::is_invocable_v<F, T, T, T>)
      result = scalar_from(f(scalar_to<T>(v[0]), scalar_to<T>(v[1]), scalar_to<T>(v[2])));
    else
      result = scalar_from(f(scalar_to<bool>(v[0]), scalar_to<T>(v[1]), scalar_to<T>(v[2])));
  });
  return result;
}

std::optional<Scalar> evaluate(Op op, DType dtype, const std::array<Scalar, 3>& values) {
  switch (compute_dtype(dtype)) {
    case DType::f32:
      return evaluate_as<float>(op, values);
    case DType::f64:
      return evaluate_as<double>(op, values);
    case DType::i32:
      return evaluate_as<scalar::I32>(op, values);
    case DType::i64:
      return evaluate_as<scalar::I64>(op, values);
    default:
      return evaluate_as<bool>(op, values);
  }
}

bool is_number(const Graph& graph, const Operand& operand, double value) {
  const Node& node = graph[operand.node];
  return node.op == Op::constant && node.value.real == value;
}

// The operand whose value the node simply passes on.
const Operand* forwarded(const Graph& graph, const Node& node) {
  auto same_type = [&](const Operand& o) { return graph[o.node].dtype == node.dtype; };
  switch (node.op) {
    case Op::cast:
      return same_type(node.operands[0]) ? &node.operands[0] : nullptr;
    case Op::mul:
      if (is_number(graph, node.operands[1], 1)) return &node.operands[0];
      return is_number(graph, node.operands[0], 1) ? &node.operands[1] : nullptr;
    case Op::div:
    case Op::pow:
      return is_number(graph, node.operands[1], 1) ? &node.operands[0] : nullptr;
    default:
      return nullptr;
  }
}

// Operations whose result is the exact one, rounded once: everybody computes the same bits.
bool is_exact(Op op) {
  switch (info(op).rule) {
    case DTypeRule::Compare:
    case DTypeRule::Logical:
    case DTypeRule::Test:
    case DTypeRule::Select:
      return true;
    default:
      break;
  }
  switch (op) {
    case Op::cast:
    case Op::copy:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::fma:
    case Op::maximum:
    case Op::minimum:
    case Op::clamp:
    case Op::neg:
    case Op::abs:
    case Op::sign:
    case Op::square:
    case Op::reciprocal:
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
    case Op::sqrt:
    case Op::relu:
    case Op::leaky_relu:
      return true;
    default:
      return false;
  }
}

// The value of a pointwise node all of whose operands are numbers.
std::optional<Scalar> constant_value(const Graph& graph, const Node& node, Bits bits) {
  if (!is_pointwise(node.op)) return std::nullopt;
  // pow(NaN, 0) and pow(1, NaN) are 1, too.
  if (node.op == Op::pow &&
      (is_number(graph, node.operands[1], 0) || is_number(graph, node.operands[0], 1)))
    return Scalar::of(std::int64_t{1});
  if (bits == Bits::kept && !is_exact(node.op) && is_floating(node.dtype)) return std::nullopt;
  std::array<Scalar, 3> values;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Node& source = graph[node.operands[i].node];
    if (source.op != Op::constant) return std::nullopt;
    values[i] = source.value;
  }
  if (node.op == Op::cast || node.op == Op::copy) return values[0].as(node.dtype);
  const DType operand_dtype = graph[node.operands.back().node].dtype;
  return evaluate(node.op, operand_dtype, values);
}

// The value of what is computed of no elements: a reduction's identity, and any number where the
// result has no elements either. Kernels thus never walk an empty space.
std::optional<Scalar> value_of_nothing(const Node& node) {
  if (node.op == Op::reduce && node.operands[0].view.shape.numel() == 0) {
    const bool one = node.reduce_kind == ReduceKind::prod || node.reduce_kind == ReduceKind::min;
    return Scalar::of(std::int64_t{one});
  }
  const bool is_computed = is_pointwise(node.op) || node.op == Op::concat;
  if (is_computed && node.shape.numel() == 0) return Scalar::of(std::int64_t{0});
  return std::nullopt;
}

// Copies `graph` node by node; `edit` may replace what stands for a node by an operand. Operands
// that read a replaced node read the replacement through both views.
class Rewriter {
 public:
  explicit Rewriter(const Graph& source) : source_(source) {
    replacement_.resize(source.nodes.size());
  }

  std::optional<Operand> translate(const Operand& operand) const {
    const Operand& target = replacement_[static_cast<std::size_t>(operand.node)];
    auto view = compose(operand.view, target.view);
    if (!view) return std::nullopt;
    return Operand{target.node, *view};
  }

  void keep(NodeId id, Node node) {
    const bool is_input = node.op == Op::input;
    const Shape shape = node.shape;
    const NodeId added = result.add(std::move(node));
    replacement_[static_cast<std::size_t>(id)] = {added, dense_view(shape)};
    if (is_input) result.inputs.push_back(added);
  }

  void replace(NodeId id, const Operand& operand) {
    replacement_[static_cast<std::size_t>(id)] = operand;
  }

  Graph finish() {
    for (const Operand& output : source_.outputs) {
      auto operand = translate(output);
      SINTER_ASSERT(operand.has_value());
      result.outputs.push_back(*operand);
    }
    return std::move(result);
  }

  Graph result;

 private:
  const Graph& source_;
  std::vector<Operand> replacement_;
};

// An input's operands see the caller's buffer: their views are taken as they are.
Node translated(const Rewriter& rewriter, const Node& node) {
  Node copy = node;
  for (Operand& operand : copy.operands) {
    auto target = rewriter.translate(operand);
    SINTER_ASSERT(target.has_value());
    operand = *target;
  }
  return copy;
}

Graph fold(const Graph& graph, Bits bits) {
  Rewriter rewriter(graph);
  std::vector<char> viewed_whole(graph.nodes.size(), 1);
  // A forwarded operand is a view of a view: only forward where every reader's view still composes.
  for (const Node& node : graph.nodes)
    for (const Operand& operand : node.operands)
      if (operand.view != dense_view(graph[operand.node].shape))
        viewed_whole[static_cast<std::size_t>(operand.node)] = 0;
  for (const Operand& operand : graph.outputs)
    if (operand.view != dense_view(graph[operand.node].shape))
      viewed_whole[static_cast<std::size_t>(operand.node)] = 0;

  for (NodeId id = 0; id < graph.size(); ++id) {
    Node node = translated(rewriter, graph[id]);
    auto value = value_of_nothing(node);
    if (!value) value = constant_value(rewriter.result, node, bits);
    if (value) {
      Node constant;
      constant.op = Op::constant;
      constant.dtype = node.dtype;
      constant.value = value->as(node.dtype);
      const NodeId added = rewriter.result.add(std::move(constant));
      rewriter.replace(id, {added, expand(dense_view({}), node.shape)});
      continue;
    }
    if (viewed_whole[static_cast<std::size_t>(id)]) {
      if (const Operand* operand = forwarded(rewriter.result, node)) {
        rewriter.replace(id, *operand);
        continue;
      }
    }
    rewriter.keep(id, std::move(node));
  }
  return rewriter.finish();
}

}  // namespace

Graph copy_reversed_outputs(const Graph& graph) {
  Graph result = graph;
  for (Operand& output : result.outputs) {
    if (!has_negative_strides(output.view)) continue;
    Node copy;
    copy.op = Op::copy;
    copy.dtype = result[output.node].dtype;
    copy.shape = output.view.shape;
    copy.operands = {output};
    output.view = dense_view(copy.shape);
    output.node = result.add(std::move(copy));
  }
  return result;
}

Graph fold_constants(const Graph& graph) { return fold(graph, Bits::kept); }
Graph fold_functions(const Graph& graph) { return fold(graph, Bits::free); }

// Operands see a node's row-major elements, so its readers do not notice.
Graph drop_unit_axes(const Graph& graph) {
  Graph result = graph;
  for (Node& node : result.nodes) {
    const bool is_reduce = node.op == Op::reduce;
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

// The view through which everybody reads the node, if they agree on one.
std::vector<std::optional<View>> common_views(const Graph& graph) {
  struct Use {
    std::optional<View> view;
    bool agreed = true;
  };
  std::vector<Use> uses(graph.nodes.size());
  auto note = [&](const Operand& operand) {
    Use& use = uses[static_cast<std::size_t>(operand.node)];
    if (use.view && *use.view != operand.view) use.agreed = false;
    use.view = operand.view;
  };
  for (const Node& node : graph.nodes)
    for (const Operand& operand : node.operands) note(operand);
  for (const Operand& output : graph.outputs) note(output);
  std::vector<std::optional<View>> views;
  for (const Use& use : uses) views.push_back(use.agreed ? use.view : std::nullopt);
  return views;
}

// The node computed directly in the order its readers want, or nullopt where that would repeat work
// or the views do not compose.
std::optional<Node> through_view(const Graph& graph, const Node& node, const View& view) {
  if (view.shape.numel() == 0) return std::nullopt;  // no kernel walks an empty space
  const bool repeats = distinct_elements(view) < view.shape.numel();
  if (repeats && (info(node.op).cost >= kHeavyCost || !reads_leaves_only(graph, node)))
    return std::nullopt;
  Node moved = node;
  moved.shape = view.shape;
  for (Operand& operand : moved.operands) {
    auto composed = compose(view, operand.view);
    if (!composed) return std::nullopt;
    operand.view = *composed;
  }
  return moved;
}

View without_unit_axes(View view) {
  for (int i = view.shape.rank() - 1; i >= 0; --i)
    if (view.shape[i] == 1) view = remove_axis(view, i);
  return view;
}

// A row-level value returned as a column, which only the caller looks at, stays row-level.
bool is_returned_with_unit_axes(const Graph& graph, NodeId id, const View& view) {
  for (const Node& node : graph.nodes)
    for (const Operand& operand : node.operands)
      if (operand.node == id) return false;
  return without_unit_axes(view) == without_unit_axes(dense_view(graph[id].shape));
}

}  // namespace

Graph sink_views(const Graph& graph) {
  Graph result = graph;
  for (NodeId id = result.size() - 1; id >= 0; --id) {
    if (!is_pointwise(result[id].op)) continue;
    const auto view = common_views(result)[static_cast<std::size_t>(id)];
    if (!view || *view == dense_view(result[id].shape)) continue;
    if (is_returned_with_unit_axes(result, id, *view)) continue;
    auto moved = through_view(result, result[id], *view);
    if (!moved) continue;
    result[id] = *moved;
    auto whole = [&](Operand& operand) {
      if (operand.node == id) operand.view = dense_view(moved->shape);
    };
    for (Node& node : result.nodes)
      for (Operand& operand : node.operands) whole(operand);
    for (Operand& output : result.outputs) whole(output);
  }
  return result;
}

Graph merge_equal(const Graph& graph) {
  auto key = [](const Node& node) {
    std::vector<std::int64_t> words{static_cast<int>(node.op), static_cast<int>(node.dtype),
                                    static_cast<int>(node.reduce_kind),
                                    static_cast<std::int64_t>(node.axes)};
    auto add_shape = [&](const Shape& shape) {
      words.push_back(shape.rank());
      words.insert(words.end(), shape.begin(), shape.end());
    };
    auto add_scalar = [&](const Scalar& s) {
      words.push_back(static_cast<std::int64_t>(s.is_real));
      words.push_back(s.is_real ? std::bit_cast<std::int64_t>(s.real) : s.integer);
    };
    add_shape(node.shape);
    add_scalar(node.value);
    add_scalar(node.step);
    for (const Operand& operand : node.operands) {
      words.push_back(operand.node);
      words.push_back(operand.view.offset);
      add_shape(operand.view.shape);
      add_shape(operand.view.strides);
    }
    return words;
  };
  Rewriter rewriter(graph);
  std::map<std::vector<std::int64_t>, NodeId> seen;
  for (NodeId id = 0; id < graph.size(); ++id) {
    Node node = translated(rewriter, graph[id]);
    if (node.op == Op::input) {
      rewriter.keep(id, std::move(node));
      continue;
    }
    auto [it, fresh] = seen.try_emplace(key(node), rewriter.result.size());
    if (fresh)
      rewriter.keep(id, std::move(node));
    else
      rewriter.replace(id, {it->second, dense_view(node.shape)});
  }
  return rewriter.finish();
}

Graph remove_dead(const Graph& graph) {
  std::vector<char> live(graph.nodes.size(), 0);
  auto mark = [&](const Operand& operand) { live[static_cast<std::size_t>(operand.node)] = 1; };
  for (const Operand& output : graph.outputs) mark(output);
  for (NodeId input : graph.inputs) live[static_cast<std::size_t>(input)] = 1;
  for (NodeId id = graph.size() - 1; id >= 0; --id)
    if (live[static_cast<std::size_t>(id)])
      for (const Operand& operand : graph[id].operands) mark(operand);
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < graph.size(); ++id)
    if (live[static_cast<std::size_t>(id)]) rewriter.keep(id, translated(rewriter, graph[id]));
  return rewriter.finish();
}

std::span<const GraphPass> simplify_passes() {
  static constexpr GraphPass kPasses[] = {
      {"copy_reversed_outputs", copy_reversed_outputs},
      {"fold_constants", fold_constants},
      {"fold_functions", fold_functions, Bits::free},
      {"use_identities", use_identities, Bits::free},
      {"narrow_integers", narrow_integers, Bits::kept, ForFusion::yes},
      {"drop_unit_axes", drop_unit_axes},
      {"sink_views", sink_views},
      {"copy_reversed_outputs", copy_reversed_outputs},  // of what is passed on
      {"merge_equal", merge_equal},
      {"reuse_maxima", reuse_maxima, Bits::free},
      {"remove_dead", remove_dead},
  };
  return kPasses;
}

Graph simplify(const Graph& graph, const SimplifyOptions& options) {
  Graph result = graph;
  for (const GraphPass& pass : simplify_passes()) {
    if (pass.bits == Bits::free && options.bits == Bits::kept) continue;
    if (pass.for_fusion == ForFusion::yes && !options.fuse) continue;
    result = pass.run(result);
#ifndef NDEBUG
    verify(result);
#endif
  }
  return result;
}

}  // namespace sinter
