// Runs the stages in order. Intermediates share one arena, packed by lifetime.
#include "src/program/build.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "src/base/check.h"
#include "src/base/elapsed.h"
#include "src/fuse/products.h"
#include "src/graph/eager_rounding.h"
#include "src/graph/simplify.h"
#include "src/program/in_place.h"
#include "src/runtime/compile_kernel.h"
#include "src/runtime/memory_planner.h"

namespace sinter {
namespace {

std::int64_t element_bytes(const Plan& plan, NodeId node) {
  return static_cast<std::int64_t>(size_of(plan.graph[node].dtype));
}

// Extent of the buffer: larger than its element count if the requested layout has gaps.
std::int64_t buffer_elements(const Plan& plan, NodeId owner) {
  return extent(plan.placements[owner].view).last + 1;
}

std::int64_t bytes_of(const Node& node) {
  return node.shape.numel() * static_cast<std::int64_t>(size_of(node.dtype));
}

// Slots of the executable.
struct Slots {
  std::map<NodeId, SlotId> of_buffer;  // by owning node
  ById<GroupId, SlotId> of_workspace;  // by kernel; -1: none
};

// Assigns a slot to every buffer of the plan: inputs, results, then intermediates in the arena.
class SlotAssigner {
 public:
  SlotAssigner(const Plan& plan, const ById<GroupId, Kernel>& kernels,
               std::span<const KernelPtr> compiled, Executable& executable)
      : plan_(plan), kernels_(kernels), compiled_(compiled), executable_(executable) {}

  Slots run() {
    for (std::size_t i = 0; i < plan_.graph.inputs.size(); ++i)
      add(plan_.graph.inputs[i], {BufferSlot::Kind::input, static_cast<int>(i), 0});
    for (const Operand& output : plan_.graph.outputs) {
      const NodeId owner = plan_.placements[output.node].buffer;
      if (slots_.of_buffer.count(owner)) continue;
      add(owner, {BufferSlot::Kind::output, executable_.new_buffer_bytes.end_id(), 0});
      executable_.new_buffer_bytes.push_back(buffer_elements(plan_, owner) *
                                             element_bytes(plan_, owner));
    }
    place_intermediates();
    return std::move(slots_);
  }

 private:
  void add(NodeId owner, BufferSlot slot) { slots_.of_buffer[owner] = add_slot(slot); }

  SlotId add_slot(BufferSlot slot) { return executable_.slots.push_back(slot); }

  void place_intermediates() {
    std::map<NodeId, std::pair<GroupId, GroupId>> spans;
    for (GroupId k = 0; k < kernels_.end_id(); ++k)
      for (const KernelBuffer& buffer : kernels_[k].buffers) {
        if (slots_.of_buffer.count(buffer.node)) continue;
        auto [it, fresh] = spans.try_emplace(buffer.node, k, k);
        it->second.second = k;
      }
    std::vector<Lifetime> lifetimes;
    for (const auto& [node, span] : spans)
      lifetimes.push_back(
          {static_cast<std::size_t>(bytes_of(plan_.graph[node])), span.first, span.second});
    for (std::size_t k = 0; k < compiled_.size(); ++k)
      lifetimes.push_back(
          {compiled_[k]->workspace_bytes(), static_cast<int>(k), static_cast<int>(k)});
    const MemoryPlan plan = plan_memory(lifetimes);
    executable_.arena_bytes = static_cast<std::int64_t>(plan.total_bytes);
    std::size_t next = 0;
    for (const auto& [node, span] : spans)
      add(node,
          {BufferSlot::Kind::intermediate, 0, static_cast<std::int64_t>(plan.offsets[next++])});
    for (const KernelPtr& kernel : compiled_) {
      const auto offset = static_cast<std::int64_t>(plan.offsets[next++]);
      slots_.of_workspace.push_back(kernel->workspace_bytes() > 0
                                        ? add_slot({BufferSlot::Kind::intermediate, 0, offset})
                                        : -1);
    }
  }

  const Plan& plan_;
  const ById<GroupId, Kernel>& kernels_;
  std::span<const KernelPtr> compiled_;
  Executable& executable_;
  Slots slots_;
};

std::int64_t reachable_elements(const Plan& plan, const KernelBuffer& buffer,
                                std::span<const std::int64_t> input_extents) {
  const auto& inputs = plan.graph.inputs;
  const auto it = std::find(inputs.begin(), inputs.end(), buffer.node);
  const std::int64_t all = it == inputs.end()
                               ? buffer_elements(plan, buffer.node)
                               : input_extents[static_cast<std::size_t>(it - inputs.begin())];
  return all - buffer.offset;
}

Launch make_launch(const Program& program, GroupId index, const Slots& slots,
                   std::span<const std::int64_t> input_extents, KernelPtr compiled) {
  const Plan& plan = program.plan;
  const Kernel& kernel = program.kernels[index];
  Launch launch;
  launch.kernel = std::move(compiled);
  launch.name = kernel.name();
  launch.scalars = scalar_words(kernel);
  for (const KernelScalar& scalar : kernel.scalars) launch.scalar_dtypes.push_back(scalar.dtype);
  launch.grid = kernel.grid;
  launch.nanoseconds = estimate_nanoseconds(plan.groups[index]);
  for (const KernelBuffer& buffer : kernel.buffers) {
    const auto element = static_cast<std::int64_t>(size_of(plan.graph[buffer.node].dtype));
    launch.buffers.push_back({slots.of_buffer.at(buffer.node), buffer.offset * element,
                              reachable_elements(plan, buffer, input_extents)});
  }
  if (const SlotId workspace = slots.of_workspace[index]; workspace >= 0)
    launch.buffers.push_back(
        {workspace, 0, static_cast<std::int64_t>(launch.kernel->workspace_bytes())});
  return launch;
}

void add_numbers(Program& program, GroupId kernel) {
  const std::vector<KernelScalar>& scalars = program.kernels[kernel].scalars;
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    if (!scalars[i].is_given()) continue;
    const Node& node = program.plan.graph[scalars[i].number];
    program.executable.numbers.push_back({kernel, i});
    program.numbers.push_back({node.number, compute_dtype(node.dtype)});
  }
}

std::shared_ptr<LaunchGraph> make_graph(const Executable& executable) {
  std::vector<GraphStep> steps;
  for (const Launch& launch : executable.launches)
    steps.push_back({launch.kernel, launch.buffers.size(), launch.scalars, launch.grid});
  return executable.device->make_launch_graph(steps);
}

// The device's machine; loads the matmul library only if the graph can use it.
Machine machine_for(const Graph& graph, Device& device, bool batch_invariant) {
  Machine machine = device.machine();
  if (!batch_invariant && has_work_for_a_library(graph))
    machine.matmul_library = device.matmul_library();
  return machine;
}

ConfigSource configs_for(const Device& device, const Machine& machine,
                         const BuildOptions& options) {
  if (machine.kind != MachineKind::gpu || !options.use_tuning) return nullptr;
  return tuned_configs(environment_tuning(), device.model(), machine, options.deterministic);
}

void fill_info(Program& program) {
  ProgramInfo& info = program.info;
  info.kernels = static_cast<int>(program.executable.launches.size());
  info.buffer_bytes = program.executable.arena_bytes;
  for (const FusionGroup& group : program.plan.groups) {
    info.bytes += group.bytes();
    info.flops += group.flops;
  }
}

}  // namespace

double estimate_nanoseconds(const FusionGroup& group) {
  constexpr double kNanosecondsPerByte = 0.03;  // one core, mix of cache and memory
  constexpr double kNanosecondsPerOperation =
      0.02;  // a simple instruction divided by the vector lanes
  return std::max(kNanosecondsPerByte * static_cast<double>(group.bytes()),
                  kNanosecondsPerOperation * static_cast<double>(group.flops));
}

Graph simplified(const Graph& traced, const BuildOptions& options, const ObservePass& observe) {
  Graph graph = options.emulate_eager_rounding ? round_every_result(traced) : traced;
  if (options.batch_invariant) graph = note_kept_axes(std::move(graph));
  return simplify(std::move(graph),
                  {options.separate_ops() ? Bits::kept : Bits::free, options.fuse}, observe);
}

PlannedKernels plan_kernels(const Graph& graph, const BuildOptions& options, const Machine& machine,
                            int workers, const ConfigSource& configs) {
#ifndef NDEBUG
  verify(graph);
#endif
  FusionOptions fusion = fusion_options(options.fuse, workers, machine);
  fusion.runs_alone = alone_rule(machine);
  fusion.separate_ops = options.separate_ops();
  if (options.batch_invariant) make_batch_invariant(fusion);
  PlannedKernels planned{
      make_plan(simplified(graph, options), fusion, options.outputs.views), {}, {}};
  const Plan& plan = planned.plan;
  const ConfigSource choose = configs ? configs : heuristic_configs(machine);
  for (GroupId g = 0; g < plan.groups.end_id(); ++g) {
    const IterationSpace space = iteration_space(plan, g);
    const ChosenConfig chosen = choose(plan, g, space);
    planned.kernels.push_back(lower(plan, g, space, chosen.config));
    planned.origins.push_back(chosen.origin);
  }
  return planned;
}

namespace {

void plan_program(Program& program, const Device& device) {
  PlannedKernels planned =
      plan_kernels(program.traced, program.options, program.machine, device.parallelism(),
                   configs_for(device, program.machine, program.options));
  program.plan = std::move(planned.plan);
  program.kernels = std::move(planned.kernels);
  program.origins = std::move(planned.origins);
  if (!program.options.outputs.in_place.empty()) prepare_in_place(program);
}

// Asked before any kernel is compiled, since a refusal changes the plan.
bool library_refuses(const Program& program, Device& device) {
  return std::any_of(program.kernels.begin(), program.kernels.end(), [&](const Kernel& kernel) {
    const auto* call = std::get_if<LibraryMatmul>(&kernel.body);
    return call && !library_kernel(device, *call).kernel;
  });
}

}  // namespace

std::shared_ptr<const Program> build_program(Graph graph,
                                             std::span<const std::int64_t> input_extents,
                                             const BuildOptions& options,
                                             const std::shared_ptr<Device>& device) {
  const auto start = std::chrono::steady_clock::now();
  auto program = std::make_shared<Program>();
  program->traced = std::move(graph);
  program->options = options;
  program->machine = machine_for(program->traced, *device, options.batch_invariant);
  plan_program(*program, *device);
  if (library_refuses(*program, *device)) {
    program->machine.matmul_library = MatmulLibrary::refused;
    plan_program(*program, *device);
  }
  const Plan& plan = program->plan;
  Executable& executable = program->executable;
  executable.device = device;
  if (!program->runs_in_place) return program;  // never run

  std::vector<const KernelBody*> bodies;
  for (const Kernel& kernel : program->kernels) bodies.push_back(&kernel.body);
  const std::vector<KernelPtr> compiled = compile_kernels(*device, bodies);
  const Slots slots = SlotAssigner(plan, program->kernels, compiled, executable).run();
  for (GroupId g = 0; g < program->kernels.end_id(); ++g) {
    Launch launch =
        make_launch(*program, g, slots, input_extents, compiled[static_cast<std::size_t>(g)]);
    program->info.kernel_compile_ms += launch.kernel->stats().milliseconds;
    program->info.kernels_from_disk += launch.kernel->stats().from_disk ? 1 : 0;
    executable.launches.push_back(std::move(launch));
    add_numbers(*program, g);
  }
  if (options.launch_graph) executable.graph = make_graph(executable);
  for (const Operand& output : plan.graph.outputs) {
    const NodeId owner = plan.placements[output.node].buffer;
    const View view = plan.buffer_view(output);
    const std::int64_t elements = plan.graph[owner].shape.numel();
    const bool is_whole = plan.graph[owner].op != Op::input && view.shape.numel() == elements &&
                          distinct_elements(view) == elements;
    executable.outputs.push_back(
        {slots.of_buffer.at(owner), plan.graph[output.node].dtype, view, is_whole});
  }
#ifndef NDEBUG
  verify(executable);
#endif
  fill_info(*program);
  program->info.compile_ms = milliseconds_since(start);
  return program;
}

}  // namespace sinter
