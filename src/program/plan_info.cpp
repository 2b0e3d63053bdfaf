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

double gpu_us(const FusionGroup& group, Device& device) {
  const double memory = static_cast<double>(group.bytes()) / device.copy_bandwidth();
  const std::optional<double> peak = device.peak_flops();
  const double work = peak ? static_cast<double>(group.flops) / *peak : 0;
  return std::max(memory, work) * 1e6 + kGpuLaunchUs;
}

// What the machine cannot beat: the bytes at copy speed, or the arithmetic, whichever takes longer.
double predicted_us(const FusionGroup& group, Device& device) {
  const Machine machine = device.machine();
  if (machine.kind == MachineKind::gpu) return gpu_us(group, device);
  const double memory = static_cast<double>(group.bytes()) / device.copy_bandwidth() * 1e6;
  const double work = estimate_nanoseconds(group) / 1e3 / device.parallelism();
  return group.bytes() <= machine.cache_bytes ? work : std::max(memory, work);
}

PlanNode node_info(const Plan& plan, NodeId id) {
  const Node& node = plan.graph[id];
  PlanNode info;
  info.id = id;
  info.op = node.op == Op::constant ? to_string(node.value) : std::string(name_of(node));
  if (node.origin != kNoOrigin) info.origin = to_string(plan.graph.origins[node.origin]);
  info.detail = fmt::format("{} {}", name_of(node.dtype), to_string(node.shape));
  info.kernel = plan.group_of[static_cast<std::size_t>(id)];
  info.is_output = std::any_of(plan.graph.outputs.begin(), plan.graph.outputs.end(),
                               [&](const Operand& output) { return output.node == id; });
  return info;
}

PlanKernel kernel_info(const FusionGroup& group, const Kernel& kernel, ConfigOrigin origin,
                       Device& device) {
  PlanKernel info;
  info.tuned = origin == ConfigOrigin::tuned;
  info.config_origin = name_of(origin);
  info.name = kernel.program.name;
  info.tiles = fmt::format("over {}", to_string(group.domain.shape));
  if (group.domain.reduced)
    info.tiles += fmt::format(", rows of {}", to_string(group.domain.kept()));
  info.tiles += fmt::format(" as {}: {} programs", to_string(kernel.config), kernel.grid);
  // Bytes are counted once: whether a cache has them for the next time is not known here.
  if (kernel.passes > 1) info.tiles += fmt::format(" that read {} times", kernel.passes);
  info.bytes_read = group.bytes_read;
  info.bytes_written = group.bytes_written;
  info.flops = group.flops;
  info.predicted_us = predicted_us(group, device);
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
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    info.kernels.push_back(kernel_info(plan.groups[g], program.kernels[g], program.origins[g],
                                       *program.executable.device));
  info.edges = edges_of(plan);
  return info;
}

// Here rather than when the program is built: measuring a device's speed takes longer than that.
ProgramInfo program_info(const Program& program) {
  ProgramInfo info = program.info;
  for (const FusionGroup& group : program.plan.groups)
    info.predicted_us += predicted_us(group, *program.executable.device);
  return info;
}

}  // namespace sinter
