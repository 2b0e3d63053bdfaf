// The text of explain() and of each stage.
#include <algorithm>

#include "src/api/build.h"
#include "src/base/check.h"
#include "src/graph/simplify.h"

namespace sinter {
namespace {

std::string bytes_text(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", value / 1e3);
  return fmt::format("{:.1f} MB", value / 1e6);
}

std::string node_text(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  return fmt::format("%{} {}", id,
                     node.op == Op::reduce ? name_of(node.reduce_kind) : name_of(node.op));
}

// What the machine cannot beat: the bytes at copy speed, or the arithmetic, whichever takes longer.
double predicted_us(const FusionGroup& group, Device& device) {
  const double memory = static_cast<double>(group.bytes()) / device.copy_bandwidth() * 1e6;
  const double work = estimate_nanoseconds(group) / 1e3 / device.parallelism();
  const bool fits_in_cache = group.bytes() <= device.cache_bytes();
  return fits_in_cache ? work : std::max(memory, work);
}

void explain_group(const Program& program, std::size_t g, std::string& text) {
  const Plan& plan = program.plan;
  const FusionGroup& group = plan.groups[g];
  const Kernel& kernel = program.kernels[g];
  Device& device = *program.executable.device;
  text += fmt::format("group {}  {}\n", g, kernel.program.name);
  text += fmt::format("  over {}", to_string(group.domain.shape));
  if (group.domain.reduced) text += fmt::format(", rows of {}", to_string(group.domain.kept()));
  text += fmt::format(" as {} tiles, {} programs\n", to_string(kernel.config), kernel.grid);
  text += "  nodes";
  for (NodeId id : group.nodes) text += "  " + node_text(plan.graph, id);
  text += fmt::format("\n  reads {}, writes {}, {:.1f} M simple operations, predicted {:.1f} us\n",
                      bytes_text(group.bytes_read), bytes_text(group.bytes_written),
                      static_cast<double>(group.flops) / 1e6, predicted_us(group, device));
}

}  // namespace

std::string explain_text(const Program& program, const std::string& name) {
  const Plan& plan = program.plan;
  std::string text;
  if (!name.empty()) text += name + "\n";
  text += fmt::format("{} kernel{}, {} moved, {} of intermediates\n", plan.groups.size(),
                      plan.groups.size() == 1 ? "" : "s", bytes_text(program.info.bytes),
                      bytes_text(program.info.buffer_bytes));
  for (std::size_t g = 0; g < plan.groups.size(); ++g) explain_group(program, g, text);
  if (plan.unfused.empty()) {
    text += "every edge is fused\n";
    return text;
  }
  text += "not fused:\n";
  for (const UnfusedEdge& edge : plan.unfused)
    text +=
        fmt::format("  {} -> {} (group {} to {}) costs {}: {}\n",
                    node_text(plan.graph, edge.producer), node_text(plan.graph, edge.consumer),
                    edge.producer_group, edge.consumer_group, bytes_text(edge.bytes), edge.reason);
  return text;
}

std::string stage_text(const Program& program, std::string_view stage) {
  std::string text;
  if (stage == "graph") return to_string(program.traced);
  if (stage == "simplified") return to_string(simplify(program.traced));
  if (stage == "plan") return to_string(program.plan.graph) + to_string(program.plan);
  if (stage == "tile" || stage == "source") {
    for (const Kernel& kernel : program.kernels)
      text += (stage == "tile" ? tile::to_string(kernel.program)
                               : program.executable.device->source(kernel.program)) +
              "\n";
    return text;
  }
  fail_user("dump", "there is no stage '{}'; stages are graph, simplified, plan, tile, source",
            stage);
}

}  // namespace sinter
