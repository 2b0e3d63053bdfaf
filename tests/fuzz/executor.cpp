// The executors trace a program themselves and build it for their device. The interpreter is a CPU
// device without a compiler.
#include "tests/fuzz/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "src/api/call_into.h"
#include "src/api/devices.h"
#include "src/api/program_cache.h"
#include "src/base/check.h"
#include "src/base/processors.h"
#include "src/cpu/cpu_device.h"
#include "src/graph/simplify.h"
#include "src/runtime/compile_kernel.h"
#include "src/runtime/in_parallel.h"
#include "src/runtime/kernel_cache.h"
#include "src/simt/simt_device.h"
#include "src/tile/dead_values.h"

namespace sinter::fuzz {
namespace {

const std::shared_ptr<Device>& device_at(Place place) {
  using Pointer = std::shared_ptr<Device>;
  static const Pointer& interpreter =
      *new Pointer(make_cpu_device({.threads = 2, .cache_dir = "", .cxx = "none"}));
  if (place == Place::interpreter) return interpreter;
  if (place == Place::cpu) {
    static const Pointer& cpu = *new Pointer(open_device("cpu"));
    return cpu;
  }
  if (place == Place::cuda) {
    static const Pointer& cuda = *new Pointer(open_device("cuda"));
    return cuda;
  }
  static const Pointer& simt =
      *new Pointer(make_simt_device(simt_device_options(environment_options())));
  return simt;
}

BuildOptions options_for(Form form) {
  return {.fuse = form != Form::eager, .emulate_eager_rounding = form == Form::rounded};
}

const BuildOptions kSeparately{.fuse = false, .emulate_eager_rounding = true};

// Layouts of results in a caller's memory: dense, transposed, in wider rows, or with gaps between
// all elements.
View strided_view(const Shape& shape, std::uint64_t kind) {
  const int rank = shape.rank();
  Shape reverse;
  for (int i = rank; i-- > 0;) reverse.push_back(i);
  Shape wide = shape;
  if (kind % 4 == 0 || rank == 0) return dense_view(shape);
  if (kind % 4 == 1) return permute(dense_view(permute(dense_view(shape), reverse).shape), reverse);
  if (kind % 4 == 2) {
    wide[rank - 1] += 3;
    View view = slice(dense_view(wide), rank - 1, 1, shape[rank - 1], 1);
    view.offset = 0;
    return view;
  }
  wide[rank - 1] *= 2;
  return slice(dense_view(wide), rank - 1, 0, shape[rank - 1], 2);
}

OutputLayout strided_layout(const RandomProgram& program, const Graph& graph) {
  OutputLayout layout;
  for (const Operand& output : graph.outputs)
    layout.views.push_back(strided_view(output.view.shape, program.seed + layout.views.size()));
  return layout;
}

std::vector<Tensor> strided_outputs(const Graph& graph, const OutputLayout& layout,
                                    const std::shared_ptr<Device>& device) {
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < layout.views.size(); ++i) {
    const DType dtype = graph.dtype(graph.outputs[i]);
    const auto elements = static_cast<std::size_t>(extent(layout.views[i]).last + 1);
    outputs.push_back(
        make_tensor(dtype, layout.views[i], device->allocate(elements * size_of(dtype)), device));
  }
  return outputs;
}

struct TracedRun {
  std::shared_ptr<Trace> trace;
  std::vector<std::int64_t> extents;  // of the inputs
};

TracedRun traced(const RandomProgram& program, const Arguments& examples) {
  TracedRun result{std::make_shared<Trace>(), {}};
  std::vector<Tensor> values;
  for (const Tensor& input : examples.tensors()) {
    values.push_back(result.trace->add_input(input));
    result.extents.push_back(extent(values.back().impl()->view).last + 1);
  }
  std::vector<Number> numbers;
  for (const Number& example : examples.numbers())
    numbers.push_back(result.trace->add_number(example));
  TraceScope scope(result.trace.get());
  for (const Tensor& output : run_steps(program, {values, numbers}))
    result.trace->graph.outputs.push_back(result.trace->operand(output));
  return result;
}

void verify_stages(const Program& program) {
  verify(program.traced);
  Graph graph = program.traced;
  for (const GraphPass& pass : simplify_passes()) {
    graph = pass.run(graph);
    verify(graph);
  }
  verify(program.plan);
  for (const Kernel& kernel : program.kernels) {
    tile::verify(kernel.program());
    tile::verify_no_waste(kernel.program());
  }
}

// A copy of the tensor's whole memory with the same view, which Tensor::to() would not keep.
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

TracedProgram build(const RandomProgram& program, const Arguments& examples, BuildOptions options,
                    const std::shared_ptr<Device>& device, bool is_placed) {
  const TracedRun run = traced(program, examples);
  if (is_placed) options.outputs = strided_layout(program, run.trace->graph);
  return {build_program(run.trace->graph, run.extents, options, device), {}};
}

std::vector<Scalar> scalars_of(std::span<const Number> numbers) {
  std::vector<Scalar> scalars;
  for (const Number& number : numbers) scalars.push_back(scalar_of(number));
  return scalars;
}

// Built for other numbers than those of the call, as a cached program is. Nullopt if that is
// invalid: the operations refuse the examples, or a guard does not hold.
std::optional<TracedProgram> build_with_examples(const RandomProgram& program,
                                                 const Arguments& inputs,
                                                 const BuildOptions& options,
                                                 const std::shared_ptr<Device>& device,
                                                 bool is_placed) {
  if (program.numbers.empty()) return std::nullopt;
  try {
    const std::vector<Number> examples = examples_of(program);
    TracedProgram built = build(program, {inputs.tensors(), examples}, options, device, is_placed);
    if (is_for(*built.program, scalars_of(inputs.numbers()))) return built;
  } catch (const UserError&) {
  }
  return std::nullopt;
}

Run run_on(Place place, const RandomProgram& program, std::span<const Tensor> inputs,
           const BuildOptions& options, bool is_placed = false) {
  const std::shared_ptr<Device>& device = device_at(place);
  std::vector<Tensor> there(inputs.begin(), inputs.end());
  if (!device->shares_host_memory())
    for (Tensor& input : there) input = moved(input, device);
  const std::vector<Number> numbers = numbers_of(program);
  const Arguments call(there, numbers);
  std::optional<TracedProgram> known =
      build_with_examples(program, call, options, device, is_placed);
  const TracedProgram built = known ? *known : build(program, call, options, device, is_placed);
  SINTER_ASSERT(is_for(*built.program, scalars_of(numbers)), "not for the numbers it is made for");
  verify_stages(*built.program);
  Run result{{}, built.program->info.kernels};
  if (is_placed) {
    result.outputs = strided_outputs(built.program->traced, built.program->options.outputs, device);
    run_traced_into(built, GivenOutputs(result.outputs, there), call);
  } else {
    result.outputs = run_traced(built, call);
  }
  if (!device->shares_host_memory())
    for (Tensor& output : result.outputs) output = moved(output, device_at(Place::cpu));
  return result;
}

// Tile programs to compile, each once.
class Kernels {
 public:
  void add(const RandomProgram& program, Place place, BuildOptions options,
           bool is_placed = false) {
    const Device& device = *device_at(place);
    const Graph graph = graph_of(program);
    if (is_placed) options.outputs = strided_layout(program, graph);
    const PlannedKernels planned =
        plan_kernels(graph, options, device.machine(), device.parallelism());
    for (const Kernel& kernel : planned.kernels)
      if (seen_.insert(key_of(kernel.program()).hex()).second)
        programs_.push_back(kernel.program());
  }

  void compile(Device& device) const {
    constexpr std::size_t kPerCompilation = 24;
    const std::size_t pieces = (programs_.size() + kPerCompilation - 1) / kPerCompilation;
    in_parallel(pieces, static_cast<std::size_t>(available_cpus()), [&](std::size_t piece) {
      std::vector<const tile::TileProgram*> part;
      for (std::size_t i = piece; i < programs_.size(); i += pieces) part.push_back(&programs_[i]);
      compile_together(device, part);
    });
  }

 private:
  std::set<std::string> seen_;
  std::vector<tile::TileProgram> programs_;
};

}  // namespace

std::string_view name_of(Place place) {
  constexpr std::string_view kNames[] = {"interpreted", "compiled", "simt", "cuda"};
  return kNames[static_cast<int>(place)];
}

std::optional<Place> place_named(std::string_view name) {
  for (Place place : kPlaces)
    if (name_of(place) == name) return place;
  return std::nullopt;
}

std::string name_of(const Executor& executor) {
  constexpr std::string_view kForms[] = {"fused", "eager", "fused with eager rounding",
                                         "fused into strided memory"};
  return fmt::format("{}, {}", name_of(executor.place), kForms[static_cast<int>(executor.form)]);
}

Graph graph_of(const RandomProgram& program) {
  std::vector<Tensor> inputs;
  for (const Input& input : program.inputs) inputs.push_back(make_input(input));
  const std::vector<Number> numbers = numbers_of(program);
  return std::move(traced(program, {inputs, numbers}).trace->graph);
}

Run run_with(const Executor& executor, const RandomProgram& program,
             std::span<const Tensor> inputs) {
  return run_on(executor.place, program, inputs, options_for(executor.form),
                executor.form == Form::placed);
}

Run run_graph(Place place, const Graph& graph, const Arguments& call, const BuildOptions& options) {
  std::vector<std::int64_t> extents;
  for (const Tensor& input : call.tensors()) extents.push_back(extent(input.impl()->view).last + 1);
  const TracedProgram built{build_program(graph, extents, options, device_at(place)), {}};
  SINTER_ASSERT(is_for(*built.program, scalars_of(call.numbers())),
                "not for the numbers it is made for");
  verify_stages(*built.program);
  return {run_traced(built, call), built.program->info.kernels};
}

Run run_separately(Place place, const RandomProgram& program, std::span<const Tensor> inputs) {
  return run_on(place, program, inputs, kSeparately);
}

void compile_ahead(std::span<const RandomProgram> programs, const ChooseExecutors& executors) {
  for (Place place : {Place::cpu, Place::simt}) {
    Kernels kernels;
    for (const RandomProgram& program : programs)
      for (const Executor& executor : executors(program.seed)) {
        if (executor.place != place) continue;
        // The check reports programs that cannot be traced or planned.
        try {
          if (executor.form != Form::rounded) {
            kernels.add(program, place, options_for(executor.form), executor.form == Form::placed);
            continue;
          }
          const RandomProgram part = pointwise_part(program);
          kernels.add(part, place, options_for(executor.form));
          kernels.add(part, place, kSeparately);
        } catch (const Error&) {
        }
      }
    kernels.compile(*device_at(place));
  }
}

}  // namespace sinter::fuzz
