// Walks nodes in order; every value is a row-major array of doubles.
#include "tests/support/graph_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "src/base/check.h"
#include "src/graph/scalar_math.h"
#include "src/graph/simplify.h"
#include "src/tile/dead_values.h"
#include "tests/support/reduction_table.h"

namespace sinter::testing_support {
namespace {

template <typename T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, bool>)
    return value != 0;
  else if constexpr (scalar::kIsReal<T>)
    return value;
  else
    return T(Scalar::of(value).as(DType::i64).integer);
}

template <typename T>
double to_double(T value) {
  if constexpr (std::is_same_v<T, bool> || scalar::kIsReal<T>)
    return static_cast<double>(value);
  else
    return static_cast<double>(value.value);
}

template <typename T>
double pointwise_as(Op op, const std::vector<double>& args) {
  double result = 0;
  auto at = [&](std::size_t i) { return i < args.size() ? args[i] : 0.0; };
  const bool known = scalar::visit_pointwise<T>(op, [&]<typename F>(F f) {
    using First = std::conditional_t<std::is_invocable_v<F, T, T, T>, T, bool>;
    result = to_double(f(from_double<First>(at(0)), from_double<T>(at(1)), from_double<T>(at(2))));
  });
  SINTER_ASSERT(known, "{}", name_of(op));
  return result;
}

double pointwise_value(Op op, DType operands, const std::vector<double>& args) {
  switch (compute_dtype(operands)) {
    case DType::i32:
      return pointwise_as<scalar::I32>(op, args);
    case DType::i64:
      return pointwise_as<scalar::I64>(op, args);
    case DType::boolean:
      return pointwise_as<bool>(op, args);
    default:
      return pointwise_as<double>(op, args);
  }
}

class Evaluator {
 public:
  Evaluator(const Graph& graph, const std::vector<Numbers>& inputs)
      : graph_(graph), values_(graph.nodes.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) values_[graph.inputs[i]] = inputs[i];
  }

  std::vector<Numbers> run() {
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (graph_[id].op != Op::input) values_[id] = value(graph_[id]);
    std::vector<Numbers> outputs;
    for (const Operand& output : graph_.outputs) outputs.push_back(read(output));
    return outputs;
  }

 private:
  Numbers read(const Operand& operand) const {
    const View& view = operand.view;
    const double fill = view.window ? view.window->fill.as(graph_.dtype(operand)).real : 0;
    Numbers elements;
    Shape index = Shape::filled(view.shape.rank(), 0);
    for (std::int64_t offset : offsets_of(view)) {
      elements.push_back(is_inside(view, index)
                             ? values_[operand.node].at(static_cast<std::size_t>(offset))
                             : fill);
      for (int i = index.rank() - 1; i >= 0 && ++index[i] == view.shape[i]; --i) index[i] = 0;
    }
    return elements;
  }

  static bool is_inside(const View& view, const Shape& index) {
    for (int i = 0; view.window && i < index.rank(); ++i)
      if (index[i] < view.window->first[i] || index[i] >= view.window->last[i]) return false;
    return true;
  }

  Numbers value(const Node& node) const {
    std::vector<Numbers> operands;
    for (const Operand& operand : node.operands) operands.push_back(read(operand));
    if (node.op == Op::constant) return {node.value.as(node.dtype).real};
    if (node.op == Op::number)
      return {graph_.numbers.traced_value(node.number).as(node.dtype).real};
    if (node.op == Op::iota) return range(node);
    if (node.op == Op::contract)
      for (std::size_t i = 0; i < operands[0].size(); ++i) operands[0][i] *= operands[1][i];
    if (is_reduction(node.op)) return reduced(node, operands[0]);
    if (node.op == Op::concat) return concatenated(node, operands);
    Numbers result(static_cast<std::size_t>(node.shape.numel()));
    for (std::size_t i = 0; i < result.size(); ++i) {
      std::vector<double> args;
      for (const Numbers& operand : operands) args.push_back(operand[i]);
      result[i] = node.op == Op::cast
                      ? Scalar::of(args[0]).as(node.dtype).real
                      : pointwise_value(node.op, graph_[node.operands.back().node].dtype, args);
    }
    return result;
  }

  static Numbers range(const Node& node) {
    Numbers result;
    for (std::int64_t i = 0; i < node.shape.numel(); ++i)
      result.push_back(node.value.real + node.step.real * static_cast<double>(i));
    return result;
  }

  static Numbers reduced(const Node& node, const Numbers& operand) {
    const Shape& shape = node.operands[0].view.shape;
    std::vector<std::vector<double>> taken(static_cast<std::size_t>(node.shape.numel()));
    // The kept position of every element: strides of the result over the operand's axes.
    View kept{shape, Shape::filled(shape.rank(), 0), 0};
    const Strides strides = row_major(node.shape);
    int next = 0;
    for (int i = 0; i < shape.rank(); ++i)
      if (!(node.axes >> i & 1)) kept.strides[i] = strides[next++];
    const std::vector<std::int64_t> targets = offsets_of(kept);
    for (std::size_t i = 0; i < operand.size(); ++i)
      taken[static_cast<std::size_t>(targets[i])].push_back(operand[i]);
    Numbers result;
    for (const auto& list : taken) result.push_back(reduce_list(node.reduce_kind, list));
    return result;
  }

  // The first NaN wins.
  static double reduce_list(ReduceKind kind, const std::vector<double>& list) {
    if (list.empty()) return identity_of(kind, DType::f64).real;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (std::isnan(list[i])) return is_arg(kind) ? static_cast<double>(i) : list[i];
    for (const testing::ReductionRow& row : testing::reduction_table())
      if (row.name == name_of(kind))
        return static_cast<double>(row.reference({list.begin(), list.end()}));
    ADD_FAILURE() << "tests/support/reduction_table.cpp has no " << name_of(kind);
    return 0;
  }

  static Numbers concatenated(const Node& node, const std::vector<Numbers>& operands) {
    Numbers result(static_cast<std::size_t>(node.shape.numel()));
    std::int64_t start = 0;
    const int axis = static_cast<int>(node.axes);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const std::int64_t size = node.operands[k].view.shape[axis];
      const auto targets = offsets_of(slice(dense_view(node.shape), axis, start, size, 1));
      for (std::size_t i = 0; i < targets.size(); ++i)
        result[static_cast<std::size_t>(targets[i])] = operands[k][i];
      start += size;
    }
    return result;
  }

  const Graph& graph_;
  ById<NodeId, Numbers> values_;
};

template <typename T>
void put(std::vector<std::byte>& bytes, T value) {
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

template <typename T>
T take(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

std::vector<std::int64_t> offsets_of(const View& view) {
  std::vector<std::int64_t> offsets{view.offset};
  for (int axis = 0; axis < view.shape.rank(); ++axis) {
    std::vector<std::int64_t> longer;
    for (std::int64_t offset : offsets)
      for (std::int64_t i = 0; i < view.shape[axis]; ++i)
        longer.push_back(offset + i * view.strides[axis]);
    offsets = std::move(longer);
  }
  return offsets;
}

std::vector<Numbers> evaluate(const Graph& graph, const std::vector<Numbers>& inputs) {
  return Evaluator(graph, inputs).run();
}

Numbers random_numbers(std::mt19937& random, std::int64_t count, DType dtype) {
  std::uniform_real_distribution<double> real(-2, 2);
  std::uniform_int_distribution<int> whole(-9, 9);
  Numbers numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    if (dtype == DType::boolean)
      numbers.push_back(whole(random) > 0 ? 1 : 0);
    else
      numbers.push_back(is_floating(dtype) ? Scalar::of(real(random)).as(dtype).real
                                           : whole(random));
  }
  return numbers;
}

std::vector<Numbers> random_inputs(const Graph& graph, unsigned seed) {
  std::mt19937 random(seed);
  std::map<NodeId, std::int64_t> count;
  auto note = [&](const Operand& operand) {
    if (graph[operand.node].op != Op::input) return;
    std::int64_t& most = count[operand.node];
    most = std::max(most, extent(operand.view).last + 1);
  };
  for (const Node& node : graph.nodes)
    for (const Operand& operand : node.operands) note(operand);
  for (const Operand& output : graph.outputs) note(output);
  std::vector<Numbers> inputs;
  for (NodeId id : graph.inputs)
    inputs.push_back(random_numbers(random, count[id], graph[id].dtype));
  return inputs;
}

std::vector<std::byte> to_bytes(const Numbers& numbers, DType dtype) {
  std::vector<std::byte> bytes;
  for (double number : numbers) {
    switch (dtype) {
      case DType::f32:
        put(bytes, static_cast<float>(number));
        break;
      case DType::f16:
        put(bytes, f32_to_f16(static_cast<float>(number)));
        break;
      case DType::bf16:
        put(bytes, f32_to_bf16(static_cast<float>(number)));
        break;
      case DType::f64:
        put(bytes, number);
        break;
      case DType::i32:
        put(bytes, static_cast<std::int32_t>(number));
        break;
      case DType::i64:
        put(bytes, static_cast<std::int64_t>(number));
        break;
      case DType::boolean:
        put(bytes, static_cast<std::uint8_t>(number != 0));
        break;
    }
  }
  return bytes;
}

Numbers to_numbers(const std::vector<std::byte>& bytes, DType dtype) {
  Numbers numbers;
  for (std::size_t i = 0; i + size_of(dtype) <= bytes.size(); i += size_of(dtype)) {
    const std::byte* from = bytes.data() + i;
    switch (dtype) {
      case DType::f32:
        numbers.push_back(static_cast<double>(take<float>(from)));
        break;
      case DType::f16:
        numbers.push_back(static_cast<double>(f16_to_f32(take<std::uint16_t>(from))));
        break;
      case DType::bf16:
        numbers.push_back(static_cast<double>(bf16_to_f32(take<std::uint16_t>(from))));
        break;
      case DType::f64:
        numbers.push_back(take<double>(from));
        break;
      case DType::i32:
        numbers.push_back(take<std::int32_t>(from));
        break;
      case DType::i64:
        numbers.push_back(static_cast<double>(take<std::int64_t>(from)));
        break;
      case DType::boolean:
        numbers.push_back(take<std::uint8_t>(from));
        break;
    }
  }
  return numbers;
}

std::vector<Numbers> run_plan(const Plan& plan, const std::vector<Numbers>& inputs,
                              const ConfigChooser& choose, const KernelRunner& run) {
  std::map<NodeId, std::vector<std::byte>> memory;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const NodeId id = plan.graph.inputs[i];
    memory[id] = to_bytes(inputs[i], plan.graph[id].dtype);
  }
  for (const Placement& placement : plan.placements) {
    if (placement.buffer < 0 || memory.count(placement.buffer)) continue;
    const Node& owner = plan.graph[placement.buffer];
    memory[placement.buffer].assign(
        static_cast<std::size_t>(owner.shape.numel()) * size_of(owner.dtype), std::byte{0xc5});
  }
  for (GroupId g = 0; g < plan.groups.end_id(); ++g) {
    const IterationSpace space = iteration_space(plan, g);
    const Config config = choose ? choose(space) : choose_config(space, Machine{});
    const Kernel kernel = lower(plan, g, space, config);
    verify(kernel.program());
    verify_no_waste(kernel.program());
    std::vector<tile::BufferBinding> bindings;
    for (const KernelBuffer& buffer : kernel.buffers) {
      auto& bytes = memory.at(buffer.node);
      const auto element = static_cast<std::int64_t>(size_of(plan.graph[buffer.node].dtype));
      bindings.push_back({bytes.data() + buffer.offset * element,
                          static_cast<std::int64_t>(bytes.size()) / element - buffer.offset});
    }
    if (run)
      run(kernel, bindings);
    else
      tile::interpret(kernel.program(), bindings, scalar_words(kernel), 0, kernel.grid);
  }
  std::vector<Numbers> outputs;
  for (const Operand& output : plan.graph.outputs) {
    const NodeId owner = plan.placements[output.node].buffer;
    const Numbers all = to_numbers(memory.at(owner), plan.graph[owner].dtype);
    Numbers elements;
    for (std::int64_t offset : offsets_of(plan.buffer_view(output)))
      elements.push_back(all.at(static_cast<std::size_t>(offset)));
    outputs.push_back(std::move(elements));
  }
  return outputs;
}

void expect_close(const std::vector<Numbers>& actual, const std::vector<Numbers>& expected,
                  double bound, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    ASSERT_EQ(actual[k].size(), expected[k].size()) << what << " output " << k;
    for (std::size_t i = 0; i < expected[k].size(); ++i) {
      const double a = actual[k][i];
      const double e = expected[k][i];
      if (std::isnan(e) ? std::isnan(a) : a == e) continue;
      ASSERT_LE(std::abs(a - e), bound * (1 + std::abs(e)))
          << what << " output " << k << " element " << i << ": " << a << ", expected " << e;
    }
  }
}

Graph rewritten_by(Graph (*pass)(Graph), const Graph& graph) {
  Graph result = remove_dead(pass(graph));
  verify(result);
  const auto inputs = random_inputs(graph, 11);
  expect_close(evaluate(result, inputs), evaluate(graph, inputs), 1e-6, to_string(result));
  return result;
}

}  // namespace sinter::testing_support
