// The executors. Interpreted ones trace the program themselves and build it for a device
// without a compiler, verifying every stage on the way.
#include "tests/fuzz/check.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <memory>

#include "src/api/devices.h"
#include "src/api/program_cache.h"
#include "src/cpu/cpu_device.h"
#include "src/graph/simplify.h"
#include "src/simt/simt_device.h"
#include "tests/fuzz/reference.h"

namespace sinter::fuzz {
namespace {

const std::shared_ptr<Device>& interpreting_device() {
  static const std::shared_ptr<Device>& device =
      *new std::shared_ptr<Device>(make_cpu_device({.threads = 2, .cache_dir = "", .cxx = "none"}));
  return device;
}

const std::shared_ptr<Device>& simt_device() {
  static const std::shared_ptr<Device>& device =
      *new std::shared_ptr<Device>(make_simt_device(simt_device_options(environment_options())));
  return device;
}

struct Run {
  std::vector<Tensor> outputs;
  int kernels = 0;
};

void verify_stages(const Program& program) {
  verify(program.traced);
  Graph graph = program.traced;
  for (const GraphPass& pass : simplify_passes()) {
    graph = pass.run(graph);
    verify(graph);
  }
  verify(program.plan);
  for (const Kernel& kernel : program.kernels) tile::verify(kernel.program);
}

Run run_on(const std::shared_ptr<Device>& device, const RandomProgram& program,
           std::span<const Tensor> inputs, bool fuse) {
  auto trace = std::make_shared<Trace>();
  std::vector<Tensor> traced;
  std::vector<std::int64_t> extents;
  for (const Tensor& input : inputs) {
    traced.push_back(trace->add_input(input));
    extents.push_back(extent(traced.back().impl()->view).last + 1);
  }
  {
    TraceScope scope(trace.get());
    for (const Tensor& result : run_steps(program, traced))
      trace->graph.outputs.push_back(trace->operand(result));
  }
  const TracedProgram built{build_program(trace->graph, extents, {fuse}, device), {}};
  verify_stages(*built.program);
  return {run_traced(built, inputs), built.program->info.kernels};
}

Run run_compiled(const RandomProgram& program, std::span<const Tensor> inputs, bool fuse) {
  const CompiledFunction function =
      compile_list([&](std::span<const Tensor> values) { return run_steps(program, values); },
                   program.input_count(), {.fuse = fuse});
  return {function.call(inputs), function.info(inputs).kernels};
}

// A copy of all of the tensor's memory: seen through the same view, as Tensor::to() would not.
Tensor moved(const Tensor& tensor, const std::shared_ptr<Device>& target) {
  const TensorImpl& impl = *tensor.impl();
  const std::size_t bytes = impl.storage->bytes();
  StoragePtr storage = target->allocate(bytes);
  if (impl.device->shares_host_memory())
    target->copy_from_host(storage->data(), impl.storage->data(), bytes);
  else
    impl.device->copy_to_host(storage->data(), impl.storage->data(), bytes);
  return make_tensor(impl.dtype, impl.view, std::move(storage), target);
}

Run run_on_gpu(const RandomProgram& program, std::span<const Tensor> inputs, bool fuse) {
  std::vector<Tensor> there;
  for (const Tensor& input : inputs) there.push_back(moved(input, open_device("cuda")));
  Run run = run_on(open_device("cuda"), program, there, fuse);
  for (Tensor& output : run.outputs) output = moved(output, open_device("cpu"));
  return run;
}

Run run_with(Executor executor, const RandomProgram& program, std::span<const Tensor> inputs) {
  switch (executor) {
    case Executor::interpreted_fused:
    case Executor::interpreted_eager:
      return run_on(interpreting_device(), program, inputs,
                    executor == Executor::interpreted_fused);
    case Executor::compiled_fused:
    case Executor::compiled_eager:
      return run_compiled(program, inputs, executor == Executor::compiled_fused);
    case Executor::simt_fused:
    case Executor::simt_eager:
      return run_on(simt_device(), program, inputs, executor == Executor::simt_fused);
    default:
      return run_on_gpu(program, inputs, executor == Executor::cuda_fused);
  }
}

Kernels kernels_of(Executor executor) {
  return executor >= Executor::simt_fused ? Kernels::gpu : Kernels::host;
}

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

// Reads through the strides itself: no kernel of the library stands between.
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

std::optional<std::string> check_with(Executor executor, const RandomProgram& program,
                                      std::span<const Tensor> inputs,
                                      const std::vector<Reference>& values, Coverage& coverage) {
  try {
    const Run run = run_with(executor, program, inputs);
    if (executor == Executor::interpreted_fused) coverage.fused_kernels += run.kernels;
    if (executor == Executor::interpreted_eager) coverage.eager_kernels += run.kernels;
    for (std::size_t i = 0; i < run.outputs.size(); ++i) {
      const Reference& want = values[static_cast<std::size_t>(program.outputs[i])];
      if (auto wrong = compare(run.outputs[i], want, coverage))
        return fmt::format("output {} (v{}) {}", i, program.outputs[i], *wrong);
    }
  } catch (const std::exception& error) {
    return fmt::format("throws: {}", error.what());
  }
  return std::nullopt;
}

void note(const RandomProgram& program, Coverage& coverage) {
  coverage.programs += 1;
  coverage.steps += static_cast<std::int64_t>(program.steps.size());
  for (const Step& step : program.steps) {
    coverage.kinds[static_cast<std::size_t>(step.kind)] += 1;
    if (step.kind == StepKind::pointwise) coverage.ops[static_cast<std::size_t>(step.op)] += 1;
  }
}

}  // namespace

std::string_view name_of(Executor executor) {
  constexpr std::string_view kNames[] = {
      "interpreted, fused", "interpreted, eager", "compiled, fused", "compiled, eager",
      "simt, fused",        "simt, eager",        "cuda, fused",     "cuda, eager"};
  return kNames[static_cast<int>(executor)];
}

std::optional<Failure> check(const RandomProgram& program, const std::vector<Executor>& executors,
                             Coverage& coverage) {
  note(program, coverage);
  std::map<Kernels, std::vector<Reference>> values;
  std::vector<Tensor> inputs;
  for (const Input& input : program.inputs) inputs.push_back(make_input(input));
  for (Executor executor : executors) {
    const Kernels kernels = kernels_of(executor);
    if (!values.contains(kernels)) values[kernels] = reference_values(program, kernels);
    if (auto what = check_with(executor, program, inputs, values[kernels], coverage))
      return Failure{executor, *what};
  }
  return std::nullopt;
}

}  // namespace sinter::fuzz
