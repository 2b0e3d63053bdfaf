// Running a RandomProgram through the API, and pruning it. The table of op functions is made from
// ops.def, so a new row is fuzzed without a change here.
#include "tests/fuzz/program.h"

#include <algorithm>
#include <map>
#include <optional>

#include "src/base/check.h"

namespace sinter::fuzz {
namespace {

Tensor call_pointwise(Op op, const std::vector<Arg>& args) {
#define SINTER_FUZZ_LIST_1 args[0]
#define SINTER_FUZZ_LIST_2 args[0], args[1]
#define SINTER_FUZZ_LIST_3 args[0], args[1], args[2]
  switch (op) {
#define SINTER_POINTWISE(name, arity, rule, cost, ...) \
  case Op::name:                                       \
    return sinter::name(SINTER_FUZZ_LIST_##arity);
#include <sinter/ops.def>
#undef SINTER_POINTWISE
    default:
      SINTER_ASSERT(false, "no pointwise operation");
  }
  return {};
}

std::optional<int> first_axis(const Step& step) {
  return step.axes.empty() ? std::nullopt : std::optional(step.axes[0]);
}

Shape as_shape(const std::vector<int>& axes) {
  Shape shape;
  for (int axis : axes) shape.push_back(axis);
  return shape;
}

Tensor run_reduction(const Step& step, const Tensor& a) {
  const Axes axes(step.axes);
  switch (step.kind) {
    case StepKind::sum:
      return sum(a, axes, step.keepdim);
    case StepKind::mean:
      return mean(a, axes, step.keepdim);
    case StepKind::prod:
      return prod(a, axes, step.keepdim);
    case StepKind::max:
      return sinter::max(a, axes, step.keepdim);
    case StepKind::min:
      return sinter::min(a, axes, step.keepdim);
    case StepKind::any:
      return any(a, axes, step.keepdim);
    case StepKind::all:
      return all(a, axes, step.keepdim);
    case StepKind::var:
      return var(a, axes, step.keepdim, step.correction);
    case StepKind::std:
      return sinter::std(a, axes, step.keepdim, step.correction);
    case StepKind::logsumexp:
      return logsumexp(a, axes, step.keepdim);
    case StepKind::argmax:
      return argmax(a, first_axis(step), step.keepdim);
    default:
      return argmin(a, first_axis(step), step.keepdim);
  }
}

Tensor run_matmul(const Step& step, std::vector<Tensor> t) {
  for (int i : step.axes) {
    Tensor& operand = t[static_cast<std::size_t>(i)];
    operand = transpose(operand, -2, -1);
  }
  return matmul(t[0], t[1]);
}

Tensor run_roll(const Step& step, const Tensor& a) {
  const int axis = step.axes[0];
  const std::int64_t first = a.size(axis) - step.start;
  return concat({slice(a, axis, first, a.size(axis)), slice(a, axis, 0, first)}, axis);
}

Tensor run_on_tensors(const Step& step, const std::vector<Tensor>& t) {
  switch (step.kind) {
    case StepKind::cast:
      return cast(t[0], step.dtype);
    case StepKind::softmax:
      return softmax(t[0], step.axes[0]);
    case StepKind::log_softmax:
      return log_softmax(t[0], step.axes[0]);
    case StepKind::layer_norm:
      return layer_norm(t[0], t.size() > 1 ? t[1] : Tensor(), t.size() > 2 ? t[2] : Tensor());
    case StepKind::rms_norm:
      return rms_norm(t[0], t.size() > 1 ? t[1] : Tensor());
    case StepKind::matmul:
      return run_matmul(step, t);
    case StepKind::permute:
      return permute(t[0], as_shape(step.axes));
    case StepKind::slice:
      return slice(t[0], step.axes[0], step.start,
                   step.stop < 0 ? std::nullopt : std::optional(step.stop), step.stride);
    case StepKind::pad:
      return pad(t[0], step.axes[0], step.start, step.stop, step.stride);
    case StepKind::reshape:
      return reshape(t[0], step.shape);
    case StepKind::expand:
      return expand(t[0], step.shape);
    case StepKind::unsqueeze:
      return unsqueeze(t[0], step.axes[0]);
    case StepKind::squeeze:
      return step.axes.empty() ? squeeze(t[0]) : squeeze(t[0], step.axes[0]);
    case StepKind::concat:
      return concat(t, step.axes[0]);
    case StepKind::stack:
      return stack(t, step.axes[0]);
    case StepKind::contiguous:
      return contiguous(t[0]);
    case StepKind::roll:
      return run_roll(step, t[0]);
    case StepKind::flip:
      return flip(t[0], step.axes);
    default:
      return run_reduction(step, t[0]);
  }
}

Arg number(const StepArg& arg, std::span<const Number> given) {
  if (arg.given >= 0) return given[static_cast<std::size_t>(arg.given)];
  return arg.is_real ? Arg(arg.number) : Arg(static_cast<std::int64_t>(arg.number));
}

Tensor run_step(const Step& step, const std::vector<Tensor>& values,
                std::span<const Number> given) {
  if (step.kind == StepKind::arange) return arange(step.start, step.stop, step.stride, step.dtype);
  if (step.kind == StepKind::full) return full(step.shape, number(step.args[0], given), step.dtype);
  if (step.kind == StepKind::pointwise) {
    std::vector<Arg> args;
    for (const StepArg& arg : step.args)
      args.push_back(arg.value >= 0 ? Arg(values[static_cast<std::size_t>(arg.value)])
                                    : number(arg, given));
    return call_pointwise(step.op, args);
  }
  std::vector<Tensor> tensors;
  for (const StepArg& arg : step.args)
    tensors.push_back(values[static_cast<std::size_t>(arg.value)]);
  return run_on_tensors(step, tensors);
}

}  // namespace

const Step* source_of(const RandomProgram& program, int value) {
  while (value >= program.input_count()) {
    const Step& step = program.steps[static_cast<std::size_t>(value - program.input_count())];
    const bool is_view = step.kind >= StepKind::permute && step.kind <= StepKind::squeeze &&
                         step.kind != StepKind::pad;
    if (!is_view) return &step;
    value = step.args[0].value;
  }
  return nullptr;
}

std::vector<Number> numbers_of(const RandomProgram& program) {
  std::vector<Number> numbers;
  for (const GivenNumber& each : program.numbers) numbers.push_back(each.number);
  return numbers;
}

std::vector<Number> examples_of(const RandomProgram& program) {
  std::vector<Number> numbers;
  for (const GivenNumber& each : program.numbers) numbers.push_back(each.example);
  return numbers;
}

std::vector<Tensor> run_steps(const RandomProgram& program, const Arguments& inputs) {
  std::vector<Tensor> values(inputs.tensors().begin(), inputs.tensors().end());
  for (const Step& step : program.steps) values.push_back(run_step(step, values, inputs.numbers()));
  std::vector<Tensor> outputs;
  for (int output : program.outputs) outputs.push_back(values[static_cast<std::size_t>(output)]);
  return outputs;
}

RandomProgram pruned(const RandomProgram& program) {
  const int inputs = program.input_count();
  std::vector<bool> live(program.inputs.size() + program.steps.size(), false);
  for (int output : program.outputs) live[static_cast<std::size_t>(output)] = true;
  for (std::size_t s = program.steps.size(); s-- > 0;)
    if (live[program.inputs.size() + s])
      for (const StepArg& arg : program.steps[s].args)
        if (arg.value >= 0) live[static_cast<std::size_t>(arg.value)] = true;
  bool any_input = false;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) any_input = any_input || live[i];
  if (!any_input) live[0] = true;

  RandomProgram result{program.seed, {}, {}, {}, program.numbers};
  std::map<int, int> moved;
  for (int i = 0; i < inputs; ++i)
    if (live[static_cast<std::size_t>(i)]) {
      moved[i] = result.input_count();
      result.inputs.push_back(program.inputs[static_cast<std::size_t>(i)]);
    }
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    if (!live[program.inputs.size() + s]) continue;
    moved[inputs + static_cast<int>(s)] =
        result.input_count() + static_cast<int>(result.steps.size());
    Step step = program.steps[s];
    for (StepArg& arg : step.args)
      if (arg.value >= 0) arg.value = moved.at(arg.value);
    result.steps.push_back(std::move(step));
  }
  for (int output : program.outputs) result.outputs.push_back(moved.at(output));
  return result;
}

RandomProgram pointwise_part(const RandomProgram& program) {
  const int inputs = program.input_count();
  std::vector<bool> kept(program.inputs.size(), true);
  std::vector<bool> read(program.inputs.size(), false);
  for (const Step& step : program.steps) {
    const bool reduces = step.kind >= StepKind::sum && step.kind <= StepKind::matmul;
    const auto is_kept = [&](const StepArg& arg) {
      return arg.value < 0 || kept[static_cast<std::size_t>(arg.value)];
    };
    kept.push_back(!reduces && std::all_of(step.args.begin(), step.args.end(), is_kept));
    read.push_back(false);
    for (const StepArg& arg : step.args)
      if (kept.back() && arg.value >= 0) read[static_cast<std::size_t>(arg.value)] = true;
  }
  RandomProgram result = program;
  result.outputs.clear();
  for (int id = inputs; id < static_cast<int>(kept.size()); ++id)
    if (kept[static_cast<std::size_t>(id)] && !read[static_cast<std::size_t>(id)])
      result.outputs.push_back(id);
  if (result.outputs.empty()) result.outputs = {0};
  return pruned(result);
}

}  // namespace sinter::fuzz
