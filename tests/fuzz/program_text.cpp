// RandomProgram as C++-like text: one line per input or step, to paste into a regression test.
// In: a program. Out: lines that name the API's functions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/fuzz/program.h"

namespace sinter::fuzz {
namespace {

std::string shape_text(const Shape& shape) {
  return fmt::format("{{{}}}", fmt::join(shape.begin(), shape.end(), ", "));
}

std::string dtype_text(DType dtype) {
  return fmt::format("DType::{}", dtype == DType::boolean ? "boolean" : sinter::name_of(dtype));
}

std::string arg_text(const StepArg& arg) {
  if (arg.value >= 0) return fmt::format("v{}", arg.value);
  if (arg.given >= 0) return fmt::format("n{}", arg.given);
  return arg.is_real ? fmt::format("{:#}", arg.number) : fmt::format("{:.0f}", arg.number);
}

std::string number_text(const Number& number) {
  return number.kind() == NumberKind::real ? fmt::format("{:#}", number.real())
                                           : fmt::format("{}", number.integer());
}

std::string axes_text(const Step& step) {
  return step.axes.empty() ? "" : fmt::format("{{{}}}", fmt::join(step.axes, ", "));
}

bool is_reduction(StepKind kind) { return kind >= StepKind::sum && kind <= StepKind::argmin; }

// The arguments after the tensors in the call.
std::vector<std::string> options_of(const Step& step) {
  if (is_reduction(step.kind)) {
    const bool is_arg = step.kind == StepKind::argmax || step.kind == StepKind::argmin;
    const std::string none = is_arg ? "std::nullopt" : "{}";
    std::vector<std::string> options{step.axes.empty() ? none : axes_text(step),
                                     step.keepdim ? "true" : "false"};
    if (step.kind == StepKind::var || step.kind == StepKind::std)
      options.push_back(std::to_string(step.correction));
    return options;
  }
  switch (step.kind) {
    case StepKind::cast:
      return {dtype_text(step.dtype)};
    case StepKind::permute:
    case StepKind::flip:
      return {axes_text(step)};
    case StepKind::roll:
      return {fmt::format("{}, {}", step.axes[0], step.start)};
    case StepKind::slice:
      return {fmt::format("{}, {}, {}, {}", step.axes[0], step.start,
                          step.stop < 0 ? "std::nullopt" : std::to_string(step.stop), step.stride)};
    case StepKind::pad:
      return {fmt::format("{}, {}, {}, {}", step.axes[0], step.start, step.stop, step.stride)};
    case StepKind::reshape:
    case StepKind::expand:
      return {shape_text(step.shape)};
    case StepKind::softmax:
    case StepKind::log_softmax:
    case StepKind::unsqueeze:
      return {std::to_string(step.axes[0])};
    case StepKind::squeeze:
      return step.axes.empty() ? std::vector<std::string>{}
                               : std::vector<std::string>{std::to_string(step.axes[0])};
    default:
      return {};
  }
}

std::string step_text(const Step& step) {
  std::vector<std::string> args;
  for (const StepArg& arg : step.args) args.push_back(arg_text(arg));
  if (step.kind == StepKind::arange)
    return fmt::format("arange({}, {}, {}, {})", step.start, step.stop, step.stride,
                       dtype_text(step.dtype));
  if (step.kind == StepKind::full)
    return fmt::format("full({}, {}, {})", shape_text(step.shape), args[0], dtype_text(step.dtype));
  if (step.kind == StepKind::concat || step.kind == StepKind::stack)
    return fmt::format("{}({{{}}}, {})", name_of(step.kind), fmt::join(args, ", "), step.axes[0]);
  if (step.kind == StepKind::matmul)
    for (int i : step.axes) {
      std::string& operand = args[static_cast<std::size_t>(i)];
      operand = fmt::format("transpose({}, -2, -1)", operand);
    }
  for (std::string& option : options_of(step)) args.push_back(std::move(option));
  const std::string_view name =
      step.kind == StepKind::pointwise ? sinter::name_of(step.op) : name_of(step.kind);
  return fmt::format("{}({})", name, fmt::join(args, ", "));
}

}  // namespace

std::string_view name_of(StepKind kind) {
  constexpr std::string_view kNames[] = {
      "pointwise",  "cast",        "sum",        "mean",      "prod",      "max",     "min",
      "any",        "all",         "var",        "std",       "logsumexp", "argmax",  "argmin",
      "softmax",    "log_softmax", "layer_norm", "rms_norm",  "matmul",    "permute", "slice",
      "pad",        "reshape",     "expand",     "unsqueeze", "squeeze",   "concat",  "stack",
      "contiguous", "roll",        "flip",       "arange",    "full"};
  static_assert(std::size(kNames) == kStepKinds);
  return kNames[static_cast<int>(kind)];
}

std::string to_string(const Input& input) {
  constexpr std::string_view kLayouts[] = {"dense", "transposed", "sliced", "broadcast", "offset"};
  constexpr std::string_view kFills[] = {"small_integers", "quarters", "reals", "positive",
                                         "special"};
  std::string layout(kLayouts[static_cast<int>(input.layout)]);
  if (input.layout == Layout::sliced || input.layout == Layout::broadcast)
    layout += fmt::format(" on axis {}", input.layout_axis);
  if (input.layout == Layout::offset) layout += fmt::format(" by {}", input.layout_axis);
  return fmt::format("input({}, {}, {}, seed {})  // {}", dtype_text(input.dtype),
                     shape_text(input.shape), kFills[static_cast<int>(input.fill)], input.seed,
                     layout);
}

std::string to_string(const RandomProgram& program) {
  std::string text = fmt::format("// seed {}\n", program.seed);
  for (std::size_t i = 0; i < program.numbers.size(); ++i)
    text += fmt::format("n{} = Number({})  // traced with {}\n", i,
                        number_text(program.numbers[i].number),
                        number_text(program.numbers[i].example));
  int next = 0;
  for (const Input& input : program.inputs)
    text += fmt::format("v{} = {}\n", next++, to_string(input));
  for (const Step& step : program.steps)
    text += fmt::format("v{} = {};\n", next++, step_text(step));
  text += "return";
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    text += fmt::format("{} v{}", i ? "," : "", program.outputs[i]);
  return text + ";\n";
}

}  // namespace sinter::fuzz
