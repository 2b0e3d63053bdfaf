// Reading program files, and adding their graphs to a trace.
#include "src/api/program_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "src/api/origin.h"
#include "src/api/trace.h"
#include "src/base/check.h"

namespace sinter {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 25;  // the parser's limit is lower

std::string read_text(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::vector<char> part(1 << 16);
  while (file.good() && text.size() < kMostBytes) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad())
    fail_user("load", "cannot read {}: {}", path, std::strerror(errno));
  return text;
}

// A printed graph may read an input with the strides of a larger buffer, which does not exist here.
void check_inputs_suffice(const std::string& path, const ParsedProgram& program) {
  for_each_operand(program.graph, [&](const Operand& operand) {
    const Node& node = program.graph[operand.node];
    if (node.op == Op::input && extent(operand.view).last >= node.shape.numel())
      fail_user("load", "{}: the program reads beyond an input of shape {}", path,
                to_string(node.shape));
  });
}

// Copies a program's nodes into the graph of a trace.
class Replay {
 public:
  Replay(const Graph& program, Trace& trace)
      : program_(program), trace_(trace), made_(program.nodes.size()) {}

  std::vector<Tensor> run(std::span<const Tensor> inputs, std::span<const Number> given) {
    copy_numbers(given);
    std::size_t next_input = 0;
    for (NodeId id = 0; id < program_.size(); ++id) {
      const Node& node = program_[id];
      if (node.op == Op::input) {
        made_[id] = trace_.operand(inputs[next_input++]);
        continue;
      }
      trace_.build.set_origin(record_origin(trace_, name_of(node)));
      Node copy = node;
      copy.origin = kNoOrigin;
      for (Operand& operand : copy.operands) operand = moved(operand);
      if (copy.op == Op::number) copy.number = numbers_[copy.number];
      made_[id] = trace_.build.add(std::move(copy));
    }
    std::vector<Tensor> results;
    for (const Operand& output : program_.outputs) results.push_back(trace_.traced(moved(output)));
    return results;
  }

 private:
  void copy_numbers(std::span<const Number> given) {
    NumberTable& numbers = trace_.graph.numbers;
    for (const NumberExpr& expr : program_.numbers.exprs()) {
      NumberExpr copy = expr;
      for (std::size_t i = 0; i < expr.used().size(); ++i)
        copy.operands[i] = numbers_[expr.operands[i]];
      numbers_.push_back(expr.kind == NumberExpr::Kind::argument
                             ? trace_.number(given[static_cast<std::size_t>(expr.index)])
                             : numbers.add(copy));
    }
    for (const NumberGuard& guard : program_.numbers.guards())
      if (numbers.is_guarded(numbers_[guard.number], guard.value) != guard.same)
        fail_user("load", "the program was saved for calls in which a number {} {}",
                  guard.same ? "is" : "is not", plain_text(guard.value));
  }

  // An input may have strides of its own.
  Operand moved(const Operand& operand) {
    return trace_.build.viewed(made_[operand.node], operand.view);
  }

  const Graph& program_;
  Trace& trace_;
  ById<NodeId, Operand> made_;
  ById<NumberId, NumberId> numbers_;  // in the trace
};

}  // namespace

ProgramFile::ProgramFile(const std::string& path)
    : path_(path), text_(read_text(path)), program_(with_sizes({})) {}

ParsedProgram ProgramFile::with_sizes(const SizeValues& sizes) const {
  ParsedProgram program = parse_program(text_, sizes, path_);
  check_inputs_suffice(path_, program);
  return program;
}

SizeValues ProgramFile::sizes_for(std::span<const Tensor> inputs) const {
  SizeValues sizes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<std::string>& names = program_.inputs[i].sizes;
    if (static_cast<int>(names.size()) != inputs[i].rank()) continue;  // refused below
    for (std::size_t axis = 0; axis < names.size(); ++axis)
      if (!names[axis].empty())
        sizes.emplace(names[axis], inputs[i].shape()[static_cast<int>(axis)]);
  }
  return sizes;
}

std::vector<Number> ProgramFile::example_numbers() const {
  const NumberTable& table = program_.graph.numbers;
  std::vector<Number> numbers;
  for (const NumberExpr& expr : table.exprs()) {
    if (expr.kind != NumberExpr::Kind::argument) continue;
    const NumberKind kind = table.arguments()[expr.index];
    numbers.push_back(number_of(kind, expr.traced));
  }
  return numbers;
}

std::vector<Tensor> ProgramFile::trace(const Arguments& arguments) const {
  return trace(arguments, sizes_for(arguments.tensors()));
}

std::vector<Tensor> ProgramFile::trace_example(std::span<const Tensor> inputs,
                                               const SizeValues& sizes) const {
  const std::vector<Number> numbers = example_numbers();
  return trace({inputs, numbers}, sizes);
}

std::vector<Tensor> ProgramFile::trace(const Arguments& arguments, const SizeValues& sizes) const {
  const std::span<const Tensor> inputs = arguments.tensors();
  const ParsedProgram program = with_sizes(sizes);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Node& expected = program.graph[program.graph.inputs[i]];
    if (inputs[i].dtype() != expected.dtype || inputs[i].shape() != expected.shape)
      fail_user("load", "{}: input %{} is {}{}, got {}{}", path_, program.inputs[i].name,
                name_of(expected.dtype), to_string(expected.shape), name_of(inputs[i].dtype()),
                to_string(inputs[i].shape()));
  }
  return Replay(program.graph, *current_trace()).run(inputs, arguments.numbers());
}

CompiledFunction ProgramFile::compiled(CompileOptions options) const {
  auto shared = std::make_shared<const ProgramFile>(*this);
  return CompiledFunction([shared](const Arguments& inputs) { return shared->trace(inputs); },
                          Arity{static_cast<int>(program_.inputs.size()),
                                static_cast<int>(program_.graph.numbers.arguments().size())},
                          std::move(options));
}

CompiledFunction load_program(const std::string& path, CompileOptions options) {
  if (options.name.empty()) options.name = path;
  return ProgramFile(path).compiled(std::move(options));
}

}  // namespace sinter
