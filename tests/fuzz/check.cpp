// Values against the reference, and bits of fused programs against those of operations alone.
#include "tests/fuzz/check.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "tests/fuzz/reference.h"

namespace sinter::fuzz {
namespace {

Kernels kernels_of(Place place) { return place >= Place::simt ? Kernels::gpu : Kernels::host; }

double real_element(const std::byte* at, DType dtype) {
  std::uint16_t half = 0;
  float single = 0;
  double real = 0;
  switch (dtype) {
    case DType::f16:
    case DType::bf16:
      std::memcpy(&half, at, sizeof half);
      return dtype == DType::f16 ? f16_to_f32(half) : bf16_to_f32(half);
    case DType::f32:
      std::memcpy(&single, at, sizeof single);
      return single;
    default:
      std::memcpy(&real, at, sizeof real);
      return real;
  }
}

std::int64_t integer_element(const std::byte* at, DType dtype) {
  if (dtype == DType::boolean) return static_cast<std::int64_t>(*at);
  std::int32_t narrow = 0;
  std::int64_t wide = 0;
  if (dtype == DType::i64) std::memcpy(&wide, at, sizeof wide);
  if (dtype == DType::i32) std::memcpy(&narrow, at, sizeof narrow);
  return dtype == DType::i64 ? wide : narrow;
}

// Reads through the strides directly, without any kernel of the library.
std::optional<std::string> compare(const Tensor& got, const Reference& want, Coverage& coverage) {
  if (got.dtype() != want.dtype || got.shape() != want.shape)
    return fmt::format("is {}{}, expected {}{}", sinter::name_of(got.dtype()),
                       sinter::to_string(got.shape()), sinter::name_of(want.dtype),
                       sinter::to_string(want.shape));
  std::string first;
  std::int64_t wrong = 0;
  for_each_index(want.shape, [&](const Shape& index, std::size_t at) {
    std::int64_t offset = 0;
    for (int i = 0; i < index.rank(); ++i) offset += index[i] * got.strides()[i];
    const auto* element = static_cast<const std::byte*>(got.data()) +
                          offset * static_cast<std::int64_t>(size_of(want.dtype));
    const Bounded& bound = want.elements[at];
    coverage.elements += 1;
    coverage.unknown += bound.known() ? 0 : 1;
    if (is_floating(want.dtype)) {
      const double value = real_element(element, want.dtype);
      if (!agrees(bound, value) && wrong++ == 0)
        first = fmt::format("at {} is {:.9g}, expected {:.9g} within {:.3g}",
                            sinter::to_string(index), value, bound.value, bound.error);
    } else {
      const std::int64_t value = integer_element(element, want.dtype);
      if (!agrees(bound, value) && wrong++ == 0)
        first =
            fmt::format("at {} is {}, expected {}", sinter::to_string(index), value, bound.integer);
    }
  });
  if (wrong == 0) return std::nullopt;
  return fmt::format("{}; {} of {} elements are wrong", first, wrong, want.elements.size());
}

// All NaNs are equal, whatever their bits.
bool same_bits(const std::byte* a, const std::byte* b, DType dtype) {
  if (std::memcmp(a, b, size_of(dtype)) == 0) return true;
  return is_floating(dtype) && std::isnan(real_element(a, dtype)) &&
         std::isnan(real_element(b, dtype));
}

}  // namespace

std::optional<std::string> compare_bits(const Tensor& got, const Tensor& want) {
  std::string first;
  std::int64_t wrong = 0;
  const auto element = [](const Tensor& tensor, const Shape& index) {
    std::int64_t offset = 0;
    for (int i = 0; i < index.rank(); ++i) offset += index[i] * tensor.strides()[i];
    return static_cast<const std::byte*>(tensor.data()) +
           offset * static_cast<std::int64_t>(size_of(tensor.dtype()));
  };
  for_each_index(want.shape(), [&](const Shape& index, std::size_t) {
    const std::byte* a = element(got, index);
    const std::byte* b = element(want, index);
    if (same_bits(a, b, want.dtype()) || wrong++ > 0) return;
    if (is_floating(want.dtype()))
      first = fmt::format("at {} is {:.17g}, alone {:.17g}", sinter::to_string(index),
                          real_element(a, want.dtype()), real_element(b, want.dtype()));
    else
      first = fmt::format("at {} is {}, alone {}", sinter::to_string(index),
                          integer_element(a, want.dtype()), integer_element(b, want.dtype()));
  });
  if (wrong == 0) return std::nullopt;
  return fmt::format("{}; {} of {} elements have other bits", first, wrong, want.numel());
}

namespace {

std::optional<std::string> check_bits(Place place, const RandomProgram& program) {
  std::vector<Tensor> inputs;
  for (const Input& input : program.inputs) inputs.push_back(make_input(input));
  const Run fused = run_with({place, Form::rounded}, program, inputs);
  const Run alone = run_separately(place, program, inputs);
  for (std::size_t i = 0; i < fused.outputs.size(); ++i)
    if (auto wrong = compare_bits(fused.outputs[i], alone.outputs[i]))
      return fmt::format("output {} (v{}) of the pointwise part {}", i, program.outputs[i], *wrong);
  return std::nullopt;
}

std::optional<std::string> check_values(const Executor& executor, const RandomProgram& program,
                                        std::span<const Tensor> inputs,
                                        const std::vector<Reference>& values, Coverage& coverage) {
  const Run run = run_with(executor, program, inputs);
  if (executor.form == Form::fused) coverage.fused_kernels += run.kernels;
  if (executor.form == Form::eager) coverage.eager_kernels += run.kernels;
  for (std::size_t i = 0; i < run.outputs.size(); ++i) {
    const Reference& want = values[static_cast<std::size_t>(program.outputs[i])];
    if (auto wrong = compare(run.outputs[i], want, coverage))
      return fmt::format("output {} (v{}) {}", i, program.outputs[i], *wrong);
  }
  return std::nullopt;
}

std::optional<std::string> check_with(const Executor& executor, const RandomProgram& program,
                                      std::span<const Tensor> inputs,
                                      const std::vector<Reference>& values, Coverage& coverage) {
  try {
    return executor.form == Form::rounded
               ? check_bits(executor.place, pointwise_part(program))
               : check_values(executor, program, inputs, values, coverage);
  } catch (const std::exception& error) {
    return fmt::format("throws: {}", error.what());
  }
}

void note_numbers(const RandomProgram& program, Coverage& coverage) {
  std::map<double, std::set<int>> read;  // which numbers of the call have a value; -1: a constant
  for (const Step& step : program.steps)
    for (const StepArg& arg : step.args)
      if (arg.value < 0) read[arg.number].insert(arg.given);
  for (const auto& [value, sources] : read) {
    const int given = static_cast<int>(sources.size() - sources.count(-1));
    coverage.numbers += given;
    if (sources.size() > 1) coverage.equal_numbers += given;
  }
}

void note(const RandomProgram& program, Coverage& coverage) {
  coverage.programs += 1;
  coverage.steps += static_cast<std::int64_t>(program.steps.size());
  note_numbers(program, coverage);
  for (const Step& step : program.steps) {
    coverage.kinds[static_cast<std::size_t>(step.kind)] += 1;
    if (step.kind == StepKind::pointwise) coverage.ops[static_cast<std::size_t>(step.op)] += 1;
    for (const StepArg& arg : step.args) {
      const Step* source = step.kind == StepKind::matmul ? source_of(program, arg.value) : nullptr;
      if (!source) continue;
      (source->kind == StepKind::pad ? coverage.padded_products : coverage.computed_products) += 1;
    }
  }
}

}  // namespace

std::optional<Failure> check(const RandomProgram& program, const std::vector<Executor>& executors,
                             Coverage& coverage) {
  note(program, coverage);
  std::map<Kernels, std::vector<Reference>> values;
  std::vector<Tensor> inputs;
  for (const Input& input : program.inputs) inputs.push_back(make_input(input));
  for (const Executor& executor : executors) {
    const Kernels kernels = kernels_of(executor.place);
    if (!values.contains(kernels)) values[kernels] = reference_values(program, kernels);
    if (auto what = check_with(executor, program, inputs, values[kernels], coverage))
      return Failure{executor, *what};
  }
  return std::nullopt;
}

}  // namespace sinter::fuzz
