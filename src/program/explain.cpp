// The text of explain() and of each stage.
#include <algorithm>

#include "src/base/check.h"
#include "src/program/build.h"
#include "src/runtime/compile_kernel.h"

namespace sinter {
namespace {

std::string bytes_text(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", value / 1e3);
  return fmt::format("{:.1f} MB", value / 1e6);
}

std::string node_text(const PlanNode& node) { return fmt::format("%{} {}", node.id, node.op); }

// A concat belongs to no group; its parts do.
std::string place_text(const PlanNode& node) {
  return node_text(node) + (node.kernel < 0 ? "" : fmt::format(" (group {})", node.kernel));
}

// The operations that the kernel's nodes belong to: "softmax, encoder/layer_norm". Empty if these
// are only the nodes themselves.
std::string origins_text(const PlanInfo& plan, std::size_t k) {
  std::vector<std::string> origins;
  bool tells_more = false;
  for (const PlanNode& node : plan.nodes) {
    if (node.kernel != static_cast<int>(k) || node.origin.empty()) continue;
    tells_more |= node.origin != node.op;
    if (std::find(origins.begin(), origins.end(), node.origin) == origins.end())
      origins.push_back(node.origin);
  }
  return tells_more ? fmt::format("{}", fmt::join(origins, ", ")) : "";
}

void explain_kernel(const PlanInfo& plan, std::size_t k, bool on_gpu, std::string& text) {
  const PlanKernel& kernel = plan.kernels[k];
  text += fmt::format("group {}  {}\n  {}\n", k, kernel.name, kernel.tiles);
  if (!kernel.product.empty()) text += fmt::format("  product computed by {}\n", kernel.product);
  if (on_gpu) text += fmt::format("  config: {}\n", kernel.config_origin);  // others are not tuned
  for (const PlanRule& rule : kernel.rules)
    text += fmt::format("    {}: {}\n", rule.part, rule.name);
  text += "  nodes";
  for (const PlanNode& node : plan.nodes)
    if (node.kernel == static_cast<int>(k)) text += "  " + node_text(node);
  if (const std::string origins = origins_text(plan, k); !origins.empty())
    text += "\n  from  " + origins;
  text += fmt::format("\n  reads {}, writes {}, {:.1f} M simple operations, predicted {:.1f} us\n",
                      bytes_text(kernel.bytes_read), bytes_text(kernel.bytes_written),
                      static_cast<double>(kernel.flops) / 1e6, kernel.predicted_us);
}

// The graph after each simplifier pass that changed it.
std::string passes_text(const Program& program) {
  std::string before = to_string(program.traced);
  std::string text = "// traced\n" + before;
  simplified(program.traced, program.options, [&](const GraphPass& pass, const Graph& graph) {
    std::string after = to_string(graph);
    if (after == before) {
      text += fmt::format("\n// {}: no change\n", pass.name);
    } else {
      text += fmt::format("\n// {}\n{}", pass.name, after);
      before = std::move(after);
    }
  });
  return text;
}

std::string assembly_text(Device& device, const KernelBody& body) {
  const tile::TileProgram* program = tile_program(body);
  if (!program) return to_string(body);
  std::string assembly = device.assembly(device.render(*program));
  if (assembly.empty())
    fail_user("dump", "stage 'ptx' is for GPUs; the program runs on {}", device.name());
  return assembly;
}

// Why the kernels of a program that asked for a CUDA graph are launched one by one.
std::string why_no_graph(const Program& program) {
  for (LaunchId k = 0; k < program.executable.launches.end_id(); ++k)
    if (!program.executable.launches[k].kernel->fits_launch_graph())
      return fmt::format("group {} is {}, which no graph can contain", k,
                         to_string(program.kernels[k].config));
  return fmt::format("{} launches kernels one by one", program.executable.device->name());
}

}  // namespace

std::string explain_text(const Program& program, const std::string& name) {
  const PlanInfo plan = plan_info(program);
  std::string text;
  if (!name.empty()) text += name + "\n";
  text += fmt::format("{} kernel{}, {} moved, {} of intermediates\n", plan.kernels.size(),
                      plan.kernels.size() == 1 ? "" : "s", bytes_text(program.info.bytes),
                      bytes_text(program.info.buffer_bytes));
  if (program.options.launch_graph)
    text += program.executable.graph ? "launched as one CUDA graph\n"
                                     : fmt::format("no CUDA graph: {}\n", why_no_graph(program));
  const bool on_gpu = program.executable.device->machine().kind == MachineKind::gpu;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) explain_kernel(plan, k, on_gpu, text);
  std::string unfused;
  const auto node = [&](int id) -> const PlanNode& {
    return plan.nodes[static_cast<std::size_t>(id)];
  };
  for (const PlanEdge& edge : plan.edges)
    if (!edge.fused)
      unfused += fmt::format(
          "  {} -> {} costs {}: {}\n", place_text(node(edge.from)), place_text(node(edge.to)),
          edge.bytes > 0 ? bytes_text(edge.bytes) : "a kernel more", edge.reason);
  for (const SharedRead& read : program.plan.shared_reads)
    unfused += fmt::format("  %{} {} is read by groups {} and {}, which costs {}: {}\n",
                           read.source, name_of(program.plan.graph[read.source]), read.first,
                           read.second, bytes_text(read.bytes), read.reason);
  return text + (unfused.empty() ? "every edge is fused\n" : "not fused:\n" + unfused);
}

std::string stage_text(const Program& program, std::string_view stage) {
  std::string text;
  if (stage == "graph") return to_string(program.traced);
  if (stage == "passes") return passes_text(program);
  if (stage == "simplified") return to_string(simplified(program.traced, program.options));
  if (stage == "plan") return to_string(program.plan.graph) + to_string(program.plan);
  Device* const device = program.executable.device.get();
  if (stage == "launches" && !device)
    fail_user("dump", "stage 'launches' needs the device; this program was only planned for it");
  if (stage == "launches") return to_string(program.executable);
  for (const Kernel& kernel : program.kernels) {
    if (stage == "kernels")
      text += to_string(kernel);
    else if (stage == "tile")
      text += to_string(kernel.body) + "\n";
    else if (stage == "source")
      text += source_text(*device, kernel.body) + "\n";
    else if (stage == "ptx")
      text += assembly_text(*device, kernel.body) + "\n";
    else
      fail_user("dump", "there is no stage '{}'; stages are {}", stage,
                "graph, passes, simplified, plan, kernels, tile, source, ptx, launches");
  }
  return text;
}

}  // namespace sinter
