// Results are compared with the suite's reference within its bounds; where nothing is summed in an
// order of its own, also with each other, bit for bit.
#include "tests/fuzz/graph_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/api/trace.h"
#include "src/program/offline_cuda.h"
#include "src/suite/reference/graph_reference.h"
#include "src/suite/reference/node_reads.h"
#include "src/tile/dead_values.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/executor.h"
#include "tests/support/graph_reference.h"

namespace sinter::fuzz {
namespace {

using bounded::agrees;
using bounded::Bounded;

constexpr std::int64_t kUnknownWork = std::int64_t{1} << 50;
constexpr int kWorkers = 8;
// The reference bounds sums by what is typical of independent errors. Of very many programs, some
// are beyond that.
constexpr double kSlack = 16;

// The call that a graph was made for: its example numbers, and random inputs.
struct Call {
  std::vector<Tensor> inputs;
  std::vector<Number> numbers;
};

Call random_call(const Graph& graph) {
  Call call;
  const auto numbers = testing_support::random_inputs(graph, 7);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const DType dtype = graph[graph.inputs[i]].dtype;
    const std::vector<std::byte> bytes = testing_support::to_bytes(numbers[i], dtype);
    call.inputs.push_back(
        from_host(bytes.data(), {static_cast<std::int64_t>(numbers[i].size())}, dtype));
  }
  for (const NumberExpr& expr : graph.numbers.exprs())
    if (expr.kind == NumberExpr::Kind::argument)
      call.numbers.push_back(number_of(graph.numbers.arguments()[expr.index], expr.traced));
  return call;
}

// Whether an operation's bits depend on the order in which it adds or multiplies.
bool depends_on_order(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    const bool accumulates =
        node.reduce_kind == ReduceKind::sum || node.reduce_kind == ReduceKind::prod;
    return is_reduction(node.op) && accumulates && is_floating(node.dtype);
  });
}

std::optional<std::string> compare(const Tensor& got, const suite::OutputSample& sample,
                                   const std::vector<Bounded>& want) {
  const View view{got.shape(), got.strides(), 0};
  for (std::size_t i = 0; i < want.size(); ++i) {
    const std::int64_t position = sample.position(static_cast<std::int64_t>(i));
    const Bounded element =
        suite::element_at(got.data(), got.dtype(), suite::offset_at(view, position));
    Bounded bound = want[i];
    bound.error *= kSlack;
    if (is_floating(got.dtype()) ? !agrees(bound, element.value) : !agrees(bound, element.integer))
      return fmt::format("element {} is {} {}, expected {} {} within {}", position, element.value,
                         element.integer, bound.value, bound.integer, bound.error);
  }
  return std::nullopt;
}

// A printed graph may read an input with the strides of a larger buffer, unlike the reference.
bool reads_beyond_an_input(const Graph& graph) {
  bool found = false;
  for_each_operand(graph, [&](const Operand& operand) {
    const Node& node = graph[operand.node];
    found |= node.op == Op::input && extent(operand.view).last >= node.shape.numel();
  });
  return found;
}

// A number of a 16-bit type may have more digits than its type (docs/ARCHITECTURE.md). A cast to
// this type, a reduction or a concat of it, which only a text can have, loses them where it is
// stored. The reference does not.
bool stores_a_precise_number(const Graph& graph) {
  const auto is_precise = [&](const Operand& operand) {
    const Node& node = graph[operand.node];
    if (!is_scalar(node.op) || compute_dtype(node.dtype) == node.dtype) return false;
    const Scalar value =
        node.op == Op::number ? graph.numbers.traced_value(node.number) : node.value;
    return !same_bits(value.as(node.dtype), value.as(compute_dtype(node.dtype)));
  };
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return (!is_pointwise(node.op) || node.op == Op::cast) &&
           std::any_of(node.operands.begin(), node.operands.end(), is_precise);
  });
}

std::optional<std::string> compare_with_reference(const Graph& graph, const Call& call,
                                                  const Run& run) {
  if (reads_beyond_an_input(graph) || stores_a_precise_number(graph)) return std::nullopt;
  const std::optional<suite::Sample> sample = suite::choose_sample(graph, kUnknownWork);
  ThreadPool threads(1);
  const auto want = suite::evaluate_graph(
      graph, *sample, call.inputs, {bounded::Kernels::host, suite::Roundings::each_value}, threads);
  for (std::size_t k = 0; k < want.size(); ++k)
    if (auto wrong = compare(run.outputs[k], sample->outputs[k], want[k]))
      return fmt::format("output {}: {}", k, *wrong);
  return std::nullopt;
}

}  // namespace

std::int64_t work_of(const Graph& graph) {
  std::int64_t work = 0;
  for (const Node& node : graph.nodes) {
    if (node.op != Op::input) work += node.shape.numel();
    if (work >= kUnknownWork) return kUnknownWork;
  }
  for_each_operand(graph, [&](const Operand& operand) {
    work += operand.view.shape.numel();
    if (graph[operand.node].op == Op::input) work += extent(operand.view).last + 1;
    work = std::min(work, kUnknownWork);
  });
  return work;
}

void verify_plans(const Graph& graph) {
  const Machine gpu = find_cuda_architecture("sm_90a").machine;
  for (const bool fuse : {true, false})
    for (const Machine& machine : {Machine{}, gpu}) {
      const int workers = machine.kind == MachineKind::gpu ? machine.multiprocessors : kWorkers;
      const PlannedKernels planned = plan_kernels(graph, {.fuse = fuse}, machine, workers);
      verify(planned.plan);
      for (const Kernel& kernel : planned.kernels) {
        verify(kernel);
        tile::verify(kernel.program());
        tile::verify_no_waste(kernel.program());
      }
    }
}

std::optional<std::string> compare_runs(const Graph& graph) {
  const Call call = random_call(graph);
  const Arguments arguments(call.inputs, call.numbers);
  const auto run = [&](const BuildOptions& options) {
    return run_graph(Place::interpreter, graph, arguments, options);
  };
  for (const bool fuse : {true, false})
    if (auto wrong = compare_with_reference(graph, call, run({.fuse = fuse})))
      return fmt::format("{}, {}", fuse ? "fused" : "unfused", *wrong);
  if (depends_on_order(graph)) return std::nullopt;
  const Run fused = run({.emulate_eager_rounding = true});
  const Run alone = run({.fuse = false, .emulate_eager_rounding = true});
  for (std::size_t k = 0; k < fused.outputs.size(); ++k)
    if (auto wrong = compare_bits(fused.outputs[k], alone.outputs[k]))
      return fmt::format("output {} with eager rounding {}", k, *wrong);
  return std::nullopt;
}

}  // namespace sinter::fuzz
