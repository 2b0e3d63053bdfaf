// The stages in order. Buffers that only kernels see share one arena by lifetime.
#include "src/program/build.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "src/base/check.h"
#include "src/base/elapsed.h"
#include "src/graph/eager_rounding.h"
#include "src/graph/simplify.h"
#include "src/runtime/compile_kernel.h"
#include "src/runtime/memory_planner.h"

namespace sinter {
namespace {

std::int64_t bytes_of(const Node& node) {
  return node.shape.numel() * static_cast<std::int64_t>(size_of(node.dtype));
}

// Gives every buffer of the plan a slot: inputs, results, then intermediates in the arena.
class SlotAssigner {
 public:
  SlotAssigner(const Plan& plan, const std::vector<Kernel>& kernels, Executable& executable)
      : plan_(plan), kernels_(kernels), executable_(executable) {}

  std::map<NodeId, int> run() {
    for (std::size_t i = 0; i < plan_.graph.inputs.size(); ++i)
      add(plan_.graph.inputs[i], {BufferSlot::Kind::input, static_cast<int>(i), 0});
    for (const Operand& output : plan_.graph.outputs) {
      const NodeId owner = plan_.placements[static_cast<std::size_t>(output.node)].buffer;
      if (slots_.count(owner)) continue;
      add(owner,
          {BufferSlot::Kind::output, static_cast<int>(executable_.new_buffer_bytes.size()), 0});
      executable_.new_buffer_bytes.push_back(bytes_of(plan_.graph[owner]));
    }
    place_intermediates();
    return std::move(slots_);
  }

 private:
  void add(NodeId owner, BufferSlot slot) {
    slots_[owner] = static_cast<int>(executable_.slots.size());
    executable_.slots.push_back(slot);
  }

  void place_intermediates() {
    std::map<NodeId, std::pair<int, int>> spans;
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      for (const KernelBuffer& buffer : kernels_[k].buffers) {
        if (slots_.count(buffer.node)) continue;
        auto [it, fresh] = spans.try_emplace(buffer.node, static_cast<int>(k), static_cast<int>(k));
        it->second.second = static_cast<int>(k);
      }
    std::vector<Lifetime> lifetimes;
    for (const auto& [node, span] : spans)
      lifetimes.push_back(
          {static_cast<std::size_t>(bytes_of(plan_.graph[node])), span.first, span.second});
    const MemoryPlan plan = plan_memory(lifetimes);
    executable_.arena_bytes = static_cast<std::int64_t>(plan.total_bytes);
    std::size_t next = 0;
    for (const auto& [node, span] : spans)
      add(node,
          {BufferSlot::Kind::intermediate, 0, static_cast<std::int64_t>(plan.offsets[next++])});
  }

  const Plan& plan_;
  const std::vector<Kernel>& kernels_;
  Executable& executable_;
  std::map<NodeId, int> slots_;
};

std::int64_t reachable_elements(const Plan& plan, const KernelBuffer& buffer,
                                std::span<const std::int64_t> input_extents) {
  const auto& inputs = plan.graph.inputs;
  const auto it = std::find(inputs.begin(), inputs.end(), buffer.node);
  const std::int64_t all = it == inputs.end()
                               ? plan.graph[buffer.node].shape.numel()
                               : input_extents[static_cast<std::size_t>(it - inputs.begin())];
  return all - buffer.offset;
}

Launch make_launch(const Plan& plan, const Kernel& kernel, const FusionGroup& group,
                   const std::map<NodeId, int>& slots, std::span<const std::int64_t> input_extents,
                   KernelPtr compiled) {
  Launch launch;
  launch.kernel = std::move(compiled);
  launch.scalars = kernel.scalars;
  launch.grid = kernel.grid;
  launch.nanoseconds = estimate_nanoseconds(group);
  for (const KernelBuffer& buffer : kernel.buffers) {
    const auto element = static_cast<std::int64_t>(size_of(plan.graph[buffer.node].dtype));
    launch.buffers.push_back({slots.at(buffer.node), buffer.offset * element,
                              reachable_elements(plan, buffer, input_extents)});
  }
  return launch;
}

std::shared_ptr<LaunchGraph> make_graph(const Executable& executable) {
  std::vector<GraphStep> steps;
  for (const Launch& launch : executable.launches)
    steps.push_back({launch.kernel, launch.buffers.size(), launch.scalars, launch.grid});
  return executable.device->make_launch_graph(steps);
}

ConfigSource configs_for(const Device& device, const BuildOptions& options) {
  const Machine machine = device.machine();
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
  constexpr double kNanosecondsPerByte = 0.03;  // from caches and memory, one core
  constexpr double kNanosecondsPerOperation =
      0.02;  // a vector lane's share of a simple instruction
  return std::max(kNanosecondsPerByte * static_cast<double>(group.bytes()),
                  kNanosecondsPerOperation * static_cast<double>(group.flops));
}

Graph simplified(const Graph& traced, const BuildOptions& options, const ObservePass& observe) {
  return simplify(options.emulate_eager_rounding ? round_every_result(traced) : traced,
                  {options.separate_ops() ? Bits::kept : Bits::free, options.fuse}, observe);
}

PlannedKernels plan_kernels(const Graph& graph, const BuildOptions& options, const Machine& machine,
                            int workers, const ConfigSource& configs) {
#ifndef NDEBUG
  verify(graph);
#endif
  PlannedKernels planned{
      make_plan(simplified(graph, options), fusion_options(options.fuse, workers, machine)),
      {},
      {}};
  const Plan& plan = planned.plan;
  const ConfigSource choose = configs ? configs : heuristic_configs(machine);
  for (int g = 0; g < static_cast<int>(plan.groups.size()); ++g) {
    const IterationSpace space = iteration_space(plan, g);
    const ChosenConfig chosen = choose(plan, g, space);
    planned.kernels.push_back(lower(plan, g, space, chosen.config));
    planned.kernels.back().program.separate_ops = options.separate_ops();
    planned.origins.push_back(chosen.origin);
  }
  return planned;
}

std::shared_ptr<const Program> build_program(const Graph& graph,
                                             std::span<const std::int64_t> input_extents,
                                             const BuildOptions& options,
                                             const std::shared_ptr<Device>& device) {
  const auto start = std::chrono::steady_clock::now();
  auto program = std::make_shared<Program>();
  program->traced = graph;
  program->options = options;
  PlannedKernels planned = plan_kernels(graph, options, device->machine(), device->parallelism(),
                                        configs_for(*device, options));
  program->plan = std::move(planned.plan);
  program->kernels = std::move(planned.kernels);
  program->origins = std::move(planned.origins);
  const Plan& plan = program->plan;

  Executable& executable = program->executable;
  executable.device = device;
  const std::map<NodeId, int> slots = SlotAssigner(plan, program->kernels, executable).run();
  std::vector<const tile::TileProgram*> programs;
  for (const Kernel& kernel : program->kernels) programs.push_back(&kernel.program);
  const std::vector<KernelPtr> compiled = compile_kernels(*device, programs);
  for (std::size_t g = 0; g < program->kernels.size(); ++g) {
    Launch launch =
        make_launch(plan, program->kernels[g], plan.groups[g], slots, input_extents, compiled[g]);
    program->info.kernel_compile_ms += launch.kernel->stats().milliseconds;
    program->info.kernels_from_disk += launch.kernel->stats().from_disk ? 1 : 0;
    executable.launches.push_back(std::move(launch));
  }
  if (options.launch_graph) executable.graph = make_graph(executable);
  for (const Operand& output : plan.graph.outputs) {
    const NodeId owner = plan.placements[static_cast<std::size_t>(output.node)].buffer;
    executable.outputs.push_back(
        {slots.at(owner), plan.graph[output.node].dtype, plan.buffer_view(output)});
  }
  fill_info(*program);
  program->info.compile_ms = milliseconds_since(start);
  return program;
}

}  // namespace sinter
