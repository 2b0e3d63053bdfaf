// Shrinking: drop outputs, replace a step by one of its operands or by a fresh input, make inputs
// dense; whatever still fails is kept. In: a failing program. Out: a smaller one.
#include <utility>

#include "tests/fuzz/check.h"
#include "tests/fuzz/reference.h"

namespace sinter::fuzz {
namespace {

constexpr int kMostAttempts = 300;

bool fails(const RandomProgram& program, const Executor& executor) {
  Coverage ignored;
  return check(program, {executor}, ignored).has_value();
}

// The program with all uses of `from` replaced by `to`.
RandomProgram redirected(RandomProgram program, int from, int to) {
  for (Step& step : program.steps)
    for (StepArg& arg : step.args)
      if (arg.value == from) arg.value = to;
  for (int& output : program.outputs)
    if (output == from) output = to;
  return pruned(program);
}

// The program with one input more, numbered after the others.
RandomProgram with_input(RandomProgram program, const Input& input) {
  const int at = program.input_count();
  program.inputs.push_back(input);
  for (Step& step : program.steps)
    for (StepArg& arg : step.args)
      if (arg.value >= at) ++arg.value;
  for (int& output : program.outputs)
    if (output >= at) ++output;
  return program;
}

// The program whose step `s`, a product, reads a fresh input in place of a transposed operand.
RandomProgram untransposed(const RandomProgram& program, const std::vector<Reference>& values,
                           int s, int operand) {
  const auto at = static_cast<std::size_t>(operand);
  const int id = program.steps[static_cast<std::size_t>(s)].args[at].value;
  const Reference& value = values[static_cast<std::size_t>(id)];
  Input fresh;
  fresh.dtype = value.dtype;
  fresh.shape = transposed(value.shape);
  fresh.fill = Fill::quarters;
  RandomProgram result = with_input(program, fresh);
  Step& step = result.steps[static_cast<std::size_t>(s)];
  step.args[at].value = program.input_count();
  std::erase(step.axes, operand);
  return pruned(result);
}

std::vector<RandomProgram> smaller(const RandomProgram& program) {
  std::vector<RandomProgram> candidates;
  for (std::size_t i = 0; i < program.outputs.size() && program.outputs.size() > 1; ++i) {
    RandomProgram fewer = program;
    fewer.outputs.erase(fewer.outputs.begin() + static_cast<std::ptrdiff_t>(i));
    candidates.push_back(pruned(fewer));
  }
  const std::vector<Reference> values = reference_values(program);
  const int inputs = program.input_count();
  for (int s = static_cast<int>(program.steps.size()) - 1; s >= 0; --s) {
    const Reference& value = values[static_cast<std::size_t>(inputs + s)];
    for (const StepArg& arg : program.steps[static_cast<std::size_t>(s)].args)
      if (arg.value >= 0) {
        const Reference& operand = values[static_cast<std::size_t>(arg.value)];
        if (operand.shape == value.shape && operand.dtype == value.dtype)
          candidates.push_back(redirected(program, inputs + s, arg.value));
      }
    for (int i : program.steps[static_cast<std::size_t>(s)].axes)
      if (program.steps[static_cast<std::size_t>(s)].kind == StepKind::matmul)
        candidates.push_back(untransposed(program, values, s, i));
    Input fresh;
    fresh.dtype = value.dtype;
    fresh.shape = value.shape;
    fresh.fill = Fill::quarters;
    if (program.input_count() < 6)
      candidates.push_back(redirected(with_input(program, fresh), inputs + 1 + s, inputs));
  }
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    if (program.inputs[i].layout != Layout::dense) {
      candidates.push_back(program);
      candidates.back().inputs[i].layout = Layout::dense;
    }
  return candidates;
}

}  // namespace

RandomProgram shrunk(const RandomProgram& program, const Executor& executor) {
  RandomProgram best = program;
  int attempts = 0;
  for (bool found = true; found && attempts < kMostAttempts;) {
    found = false;
    for (const RandomProgram& candidate : smaller(best)) {
      if (++attempts > kMostAttempts) break;
      if (candidate.outputs.empty() || !fails(candidate, executor)) continue;
      best = candidate;
      found = true;
      break;
    }
  }
  return best;
}

}  // namespace sinter::fuzz
