// Plan -> PlanInfo: the plan as users see it.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "src/base/check.h"
#include "src/program/build.h"

namespace sinter {
namespace {

constexpr double kGpuLaunchUs = 2;  // until a kernel's first block runs, and after its last

constexpr double kMatrixUnitSpeedup = 16;  // over f32 lanes

double gpu_us(const FusionGroup& group, const Kernel& kernel, Device& device) {
  const double memory = static_cast<double>(group.bytes()) / device.copy_bandwidth();
  const std::optional<double> peak = device.peak_flops();
  const double speedup = uses_matrix_units(kernel.body) ? kMatrixUnitSpeedup : 1;
  const double work = peak ? static_cast<double>(group.flops) / (*peak * speedup) : 0;
  return std::max(memory, work) * 1e6 + kGpuLaunchUs;
}

// What the machine cannot beat: the bytes at copy speed, or the arithmetic, whichever takes longer.
double predicted_us(const FusionGroup& group, const Kernel& kernel, Device& device) {
  const Machine machine = device.machine();
  if (machine.kind == MachineKind::gpu) return gpu_us(group, kernel, device);
  const double memory = static_cast<double>(group.bytes()) / device.copy_bandwidth() * 1e6;
  const double work = estimate_nanoseconds(group) / 1e3 / device.parallelism();
  return group.bytes() <= machine.cache_bytes ? work : std::max(memory, work);
}

PlanNode node_info(const Plan& plan, NodeId id) {
  const Node& node = plan.graph[id];
  PlanNode info;
  info.id = id;
  info.op = node.op == Op::constant ? to_string(node.value)
            : node.op == Op::number ? fmt::format("number #{}", node.number)
                                    : std::string(name_of(node));
  if (node.origin != kNoOrigin) info.origin = to_string(plan.graph.origins[node.origin]);
  info.detail = fmt::format("{} {}", name_of(node.dtype), to_string(node.shape));
  info.kernel = plan.group_of[id];
  info.is_output = std::any_of(plan.graph.outputs.begin(), plan.graph.outputs.end(),
                               [&](const Operand& output) { return output.node == id; });
  return info;
}

// What computes a group's matrix product, and why; empty if it has none.
std::string product_text(const Program& program, GroupId g) {
  const IterationSpace space = iteration_space(program.plan, g);
  if (!space.contraction) return "";
  const Kernel& kernel = program.kernels[g];
  return fmt::format("{}: {}",
                     tile_program(kernel.body) ? "a generated kernel" : to_string(kernel.config),
                     why_chosen(space, program.machine, kernel.config));
}

// Recomputed here: programs that nobody asks about need no names.
std::vector<PlanRule> rules_of(const Program& program, GroupId g) {
  std::vector<PlanRule> rules;
  if (program.origins[g] == ConfigOrigin::tuned) return rules;
  const Offer offer = best_offer(iteration_space(program.plan, g), program.machine);
  for (const RuleText& rule : offer.rules) rules.push_back({rule.part, rule.name, rule.reason});
  return rules;
}

PlanKernel kernel_info(const Program& program, GroupId g) {
  const FusionGroup& group = program.plan.groups[g];
  const Kernel& kernel = program.kernels[g];
  const ConfigOrigin origin = program.origins[g];
  PlanKernel info;
  info.tuned = origin == ConfigOrigin::tuned;
  info.config_origin = name_of(origin);
  info.rules = rules_of(program, g);
  info.product = product_text(program, g);
  info.name = kernel.name();
  info.tiles = fmt::format("over {}", to_string(group.axes));
  if (reduced_mask(group.axes) != 0)
    info.tiles += fmt::format(", rows of {}", to_string(kept_axes(group.axes)));
  info.tiles += fmt::format(" as {}: {} programs", to_string(kernel.config), kernel.grid);
  // Bytes are counted once: whether a cache has them for the next time is not known here.
  if (kernel.passes > 1) info.tiles += fmt::format(" that read {} times", kernel.passes);
  info.bytes_read = group.bytes_read;
  info.bytes_written = group.bytes_written;
  info.flops = group.flops;
  info.predicted_us = predicted_us(group, kernel, *program.executable.device);
  return info;
}

std::vector<PlanEdge> edges_of(const Plan& plan) {
  std::map<std::pair<NodeId, NodeId>, const UnfusedEdge*> unfused;
  for (const UnfusedEdge& edge : plan.unfused)
    unfused.emplace(std::pair(edge.producer, edge.consumer), &edge);
  std::vector<PlanEdge> edges;
  for (NodeId to = 0; to < plan.graph.size(); ++to) {
    std::set<NodeId> seen;  // an operation that reads a value twice has one edge
    for (const Operand& operand : plan.graph[to].operands) {
      const NodeId from = operand.node;
      if (!seen.insert(from).second) continue;
      const auto cut = unfused.find({from, to});
      if (cut == unfused.end())
        edges.push_back({from, to, true, "", 0});
      else
        edges.push_back({from, to, false, cut->second->reason, cut->second->bytes});
    }
  }
  return edges;
}

}  // namespace

PlanInfo plan_info(const Program& program) {
  const Plan& plan = program.plan;
  PlanInfo info;
  for (NodeId id = 0; id < plan.graph.size(); ++id) info.nodes.push_back(node_info(plan, id));
  for (GroupId g = 0; g < plan.groups.end_id(); ++g)
    info.kernels.push_back(kernel_info(program, g));
  info.edges = edges_of(plan);
  return info;
}

// Here rather than when the program is built: measuring a device's speed takes longer than that.
ProgramInfo program_info(const Program& program) {
  ProgramInfo info = program.info;
  for (GroupId g = 0; g < program.kernels.end_id(); ++g)
    info.predicted_us +=
        predicted_us(program.plan.groups[g], program.kernels[g], *program.executable.device);
  return info;
}

}  // namespace sinter
