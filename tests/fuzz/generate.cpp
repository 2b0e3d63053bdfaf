// generate(): grows a program step by step. Every candidate step is evaluated by the reference, and
// kept only if it is small enough and checkable: few unknown and few non-finite elements.
// In: a seed. Out: the program.
#include <algorithm>
#include <random>

#include "tests/fuzz/program.h"
#include "tests/fuzz/propose.h"
#include "tests/fuzz/reference.h"

namespace sinter::fuzz {
namespace {

constexpr std::int64_t kSizes[] = {1, 2, 3, 16, 17, 33, 64, 100, 257, 31, 7};

// Mostly small tensors, where kernels' edges are; now and then some of many tiles.
std::int64_t largest_tensor(Random& random) {
  return random.pick<std::int64_t>({600, 1200, 2500, 2500, 5000, 9000, 20000});
}

Shape random_shape(Random& random, std::int64_t most) {
  Shape shape;
  const int rank = random.pick<int>({0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4});
  for (int i = 0; i < rank; ++i) {
    std::int64_t size = kSizes[random.below(std::size(kSizes))];
    if (random.one_in(60)) size = 0;
    while (size > 1 && shape.numel() * size > most) size = kSizes[random.below(4)];
    shape.push_back(shape.numel() * size > most ? 1 : size);
  }
  return shape;
}

Shape large_shape(Random& random) {
  Shape shape = random.pick<Shape>({{257, 64, 17}, {3, 257, 257}, {100, 33, 64}, {140000}});
  if (random.one_in(2) && shape.rank() == 3) shape = {shape[0] * shape[1], shape[2]};
  return shape;
}

// A shape that the theme's matrices can be multiplied by: as many rows as they have columns, with
// all, some or none of their batches.
Shape multiplier_shape(Random& random, const Shape& theme, std::int64_t most) {
  if (theme.rank() == 0) return theme;
  Shape shape = theme;
  if (theme.rank() == 1) shape.insert(0, 1);
  const int last = shape.rank() - 1;
  shape[last - 1] = theme.back();
  shape[last] = kSizes[random.below(6)];
  for (int i = 0; i + 1 < last; ++i)
    if (random.one_in(3)) shape[i] = 1;
  while (shape.rank() > 2 && (random.one_in(4) || shape.numel() > most)) shape.erase(0);
  return shape.numel() > most ? theme : shape;
}

// The theme's shape, one that broadcasts with it, one to multiply it by, or another.
Shape input_shape(Random& random, const Shape& theme, std::int64_t most) {
  Shape shape = theme;
  switch (random.below(7)) {
    case 0:
      for (int i = 0; i < shape.rank(); ++i)
        if (random.one_in(2)) shape[i] = 1;
      return shape;
    case 1:
      while (shape.rank() > 0 && random.one_in(2)) shape.erase(0);
      return shape;
    case 2:
      return random_shape(random, most);
    case 3:
      return multiplier_shape(random, theme, most);
    default:
      return shape;
  }
}

DType random_dtype(Random& random, DType theme) {
  if (!random.one_in(3)) return theme;
  return static_cast<DType>(random.below(kDTypeCount));
}

Input random_input(Random& random, const Shape& theme, DType dtype, std::int64_t most) {
  Input input;
  input.dtype = random_dtype(random, dtype);
  input.shape = input_shape(random, theme, most);
  if (input.shape.rank() > 0 && random.one_in(3)) {
    input.layout = random.pick({Layout::transposed, Layout::sliced, Layout::broadcast});
    input.layout_axis =
        static_cast<int>(random.below(static_cast<std::uint64_t>(input.shape.rank())));
  }
  if (input.layout == Layout::dense && random.one_in(4)) {
    input.layout = Layout::offset;
    input.layout_axis = 1 + static_cast<int>(random.below(31));
  }
  input.fill = random.pick({Fill::small_integers, Fill::quarters, Fill::reals, Fill::reals,
                            Fill::positive, Fill::special});
  input.seed = random.next();
  return input;
}

// Whether checking the value can detect errors.
bool is_telling(const Reference& value, bool allow_infinite) {
  std::size_t unknown = 0;
  std::size_t infinite = 0;
  for (const Bounded& x : value.elements) {
    unknown += x.known() ? 0 : 1;
    infinite += is_floating(value.dtype) && !std::isfinite(x.value) ? 1 : 0;
  }
  const std::size_t count = value.elements.size();
  return unknown * 20 <= count && (allow_infinite || infinite * 4 <= count);
}

void choose_outputs(Random& random, const std::vector<int>& uses, RandomProgram& program) {
  const auto count = static_cast<int>(uses.size());
  const std::size_t wanted = random.pick<std::size_t>({1, 2, 2, 3, 3});
  // Prefers values that no step reads; always includes the latest of these.
  for (int v = count - 1; v >= program.input_count() && program.outputs.size() < wanted; --v)
    if (uses[static_cast<std::size_t>(v)] == 0) program.outputs.push_back(v);
  while (program.outputs.size() < wanted) {
    const int first = random.one_in(12) ? 0 : program.input_count();
    program.outputs.push_back(
        first + static_cast<int>(random.below(static_cast<std::uint64_t>(count - first))));
  }
}

}  // namespace

RandomProgram generate(std::uint64_t seed) {
  Random random(seed);
  Drawn drawn;
  RandomProgram& program = drawn.program;
  program.seed = seed;
  // A few are large enough for reductions to be split among workers.
  const bool large = seed % 50 == 49;
  const std::int64_t most = drawn.most_elements = large ? 300000 : largest_tensor(random);
  const Shape theme = large ? large_shape(random) : random_shape(random, most);
  const DType dtype = random.pick({DType::f32, DType::f32, DType::f32, DType::f16, DType::bf16,
                                   DType::f64, DType::i32, DType::i64});
  const std::uint64_t inputs = 1 + random.below(4);
  for (std::uint64_t i = 0; i < inputs; ++i) {
    program.inputs.push_back(random_input(random, theme, dtype, most));
    drawn.values.push_back(reference_input(program.inputs.back()));
  }
  for (int i = random.pick({0, 0, 1, 2, 3}); i > 0; --i)
    program.numbers.push_back(propose_number(random, program.numbers));
  drawn.uses.assign(drawn.values.size(), 0);
  const std::size_t steps = 4 + random.below(random.one_in(3) ? 22 : 10);
  for (int attempt = 0; attempt < 400 && program.steps.size() < steps; ++attempt) {
    const std::optional<Step> step = propose_step(random, drawn);
    if (!step) continue;
    Reference value = reference_step(*step, drawn.values);
    if (value.shape.numel() > most || value.shape.rank() > 5) continue;
    if (!is_telling(value, random.one_in(40))) continue;
    for (const StepArg& arg : step->args)
      if (arg.value >= 0) ++drawn.uses[static_cast<std::size_t>(arg.value)];
    drawn.uses.push_back(0);
    program.steps.push_back(*step);
    drawn.values.push_back(std::move(value));
  }
  choose_outputs(random, drawn.uses, program);
  return pruned(program);
}

}  // namespace sinter::fuzz
