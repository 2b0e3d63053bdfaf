// RandomProgram: a tensor program as a value, made from a seed by generate().
// In: a seed. Out: inputs, numbers of a call, steps and outputs, which print as C++ and run through
// the public API.
#pragma once

#include <sinter/sinter.h>

#include <cstdint>
#include <string>
#include <vector>

#include "src/graph/op.h"

namespace sinter::fuzz {

// The memory layout of an input.
enum class Layout : std::uint8_t { dense, transposed, sliced, broadcast, offset };
// The contents of an input; every value is exact in its dtype.
enum class Fill : std::uint8_t { small_integers, quarters, reals, positive, special };

struct Input {
  DType dtype = DType::f32;
  Shape shape;
  Layout layout = Layout::dense;
  int layout_axis = 0;  // sliced, broadcast; offset: elements of the buffer before the first
  Fill fill = Fill::reals;
  std::uint64_t seed = 0;
};

enum class StepKind : std::uint8_t {
  // By the op table.
  pointwise,
  cast,
  // Reductions over `axes` (none: all); argmax and argmin take at most one.
  sum,
  mean,
  prod,
  max,
  min,
  any,
  all,
  var,
  std,
  logsumexp,
  argmax,
  argmin,
  // Along axes[0], or over the last axes.
  softmax,
  log_softmax,
  layer_norm,
  rms_norm,
  // Of two values; the positions in `axes`, 0 or 1, are transposed in their last two axes.
  matmul,
  // Views, and operations that move data.
  permute,
  slice,
  pad,
  reshape,
  expand,
  unsqueeze,
  squeeze,
  concat,
  stack,
  contiguous,
  roll,
  flip,
  // Without operands.
  arange,
  full,
};
inline constexpr int kStepKinds = static_cast<int>(StepKind::full) + 1;

// A number of each call: a program traced with `example` runs with `number`.
struct GivenNumber {
  Number number = 0.0;
  Number example = 0.0;  // of the same kind
};

// A value of the program, or a number.
struct StepArg {
  int value = -1;
  double number = 0;
  bool is_real = false;
  int given = -1;  // which number of the call it is; -1: a constant
};

struct Step {
  StepKind kind = StepKind::pointwise;
  Op op = Op::copy;           // pointwise
  std::vector<StepArg> args;  // layer_norm, rms_norm: the tensor, then weight, then bias
  std::vector<int> axes;      // permute: the order; slice, pad, concat, softmax, ...: the axis
  Shape shape;                // reshape, expand, full
  DType dtype = DType::f32;   // cast, arange, full
  bool keepdim = false;
  int correction = 1;  // var, std
  // roll: the elements that move from the end to the beginning
  // slice, arange; for a slice with a negative step, a stop of -1 means std::nullopt: down to the
  // first element. pad: the counts before and after, and the number
  std::int64_t start = 0;
  std::int64_t stop = 0;
  std::int64_t stride = 1;
};

// Values are numbered: the inputs, then the result of each step.
struct RandomProgram {
  std::uint64_t seed = 0;
  std::vector<Input> inputs;
  std::vector<Step> steps;
  std::vector<int> outputs;
  std::vector<GivenNumber> numbers = {};

  int input_count() const { return static_cast<int>(inputs.size()); }
};

RandomProgram generate(std::uint64_t seed);

// The step that computes or pads a value, behind other views of it; null for an input.
const Step* source_of(const RandomProgram& program, int value);

// Without the steps and inputs that no output needs (one input always stays).
RandomProgram pruned(const RandomProgram& program);

// Without reductions and steps that depend on them; the outputs are the remaining unread values.
RandomProgram pointwise_part(const RandomProgram& program);

// The numbers that a call gives, or those that its program is traced with.
std::vector<Number> numbers_of(const RandomProgram& program);
std::vector<Number> examples_of(const RandomProgram& program);

// Calls the API; under a trace it is recorded. `inputs` has as many numbers as the program.
std::vector<Tensor> run_steps(const RandomProgram& program, const Arguments& inputs);

// The input's row-major elements, rounded to its dtype.
std::vector<double> input_values(const Input& input);
// The tensor, in the requested layout.
Tensor make_input(const Input& input);

std::string to_string(const Input& input);
std::string to_string(const RandomProgram& program);
std::string_view name_of(StepKind kind);

}  // namespace sinter::fuzz
