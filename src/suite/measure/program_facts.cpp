// Counts are those of the program as written, before any fusion.
#include "src/suite/measure/program_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/suite/cases/program_sizes.h"

namespace sinter::suite {
namespace {

std::int64_t bytes_of(std::int64_t elements, DType dtype) {
  return elements * static_cast<std::int64_t>(size_of(dtype));
}

// The different views through which a node is read.
std::vector<View> views_of(const Graph& graph, NodeId id) {
  std::vector<View> views;
  for_each_operand(graph, [&](const Operand& operand) {
    if (operand.node == id && std::find(views.begin(), views.end(), operand.view) == views.end())
      views.push_back(operand.view);
  });
  return views;
}

// Slices read a part of an input, and several views may read the same part.
std::int64_t elements_read(const Graph& graph, NodeId input) {
  std::int64_t elements = 0;
  for (const View& view : views_of(graph, input)) elements += distinct_elements(view);
  return std::min(elements, graph[input].shape.numel());
}

// Whether the innermost axis is not the contiguous one in memory.
bool is_transposed(const View& view) {
  bool is_innermost = true;
  for (int i = view.shape.rank() - 1; i >= 0; --i) {
    if (view.shape[i] == 1 || view.strides[i] == 0) continue;
    if (std::abs(view.strides[i]) == 1) return !is_innermost;
    is_innermost = false;
  }
  return false;
}

std::int64_t transposed_elements(const Graph& graph, NodeId input) {
  const std::vector<View> views = views_of(graph, input);
  return std::any_of(views.begin(), views.end(), is_transposed) ? elements_read(graph, input) : 0;
}

// As for cases: every operation counts one, exp as much as add.
std::int64_t operations_of(const Node& node) {
  if (is_reduction(node.op)) {
    const std::int64_t read = node.operands[0].view.shape.numel();
    return node.op == Op::contract ? 2 * read : read;
  }
  const bool computes = is_pointwise(node.op) && node.op != Op::copy && node.op != Op::cast;
  return computes ? node.shape.numel() : 0;
}

// Rows are found by their shape, so a program without sizes has that of its largest tensor.
std::string shape_text(const ParsedProgram& program) {
  if (!program.sizes.empty()) return sizes_text(program);
  const Graph& graph = program.graph;
  Shape largest;
  for (const NodeId input : graph.inputs)
    if (graph[input].shape.numel() > largest.numel()) largest = graph[input].shape;
  for (const Operand& output : graph.outputs)
    if (output.view.shape.numel() > largest.numel()) largest = output.view.shape;
  return largest.empty() ? "1" : fmt::format("{}", fmt::join(largest, "x"));
}

}  // namespace

WorkloadFacts program_facts(const ParsedProgram& program, const std::string& path) {
  const Graph& graph = program.graph;
  WorkloadFacts facts;
  facts.case_name = program_stem(path);
  facts.shape = shape_text(program);
  facts.dtype = dtypes_text(graph);
  for (const NodeId id : graph.inputs) {
    const Node& input = graph[id];
    facts.elements = std::max(facts.elements, input.shape.numel());
    facts.input_bytes += bytes_of(input.shape.numel(), input.dtype);
    facts.bytes_min += bytes_of(elements_read(graph, id), input.dtype);
    facts.bytes_transposed += bytes_of(transposed_elements(graph, id), input.dtype);
  }
  for (const Operand& output : graph.outputs) {
    const std::int64_t elements = output.view.shape.numel();
    facts.elements = std::max(facts.elements, elements);
    facts.output_bytes += bytes_of(elements, graph.dtype(output));
    if (facts.dtype.empty()) facts.dtype = name_of(graph.dtype(output));
  }
  facts.bytes_min += facts.output_bytes;
  for (const Node& node : graph.nodes) facts.flops += operations_of(node);
  return facts;
}

}  // namespace sinter::suite
