// A result may be written over an input if every kernel that reads the input runs before the one
// that writes the result, or is that kernel and computes each element from the one it replaces.
#include "src/program/in_place.h"

#include <algorithm>
#include <set>

namespace sinter {
namespace {

bool reads(const Plan& plan, const FusionGroup& group, NodeId source) {
  return std::any_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) {
    const std::vector<Operand>& operands = plan.graph[id].operands;
    return std::any_of(operands.begin(), operands.end(),
                       [&](const Operand& operand) { return operand.node == source; });
  });
}

// Whether the value depends on the source inside the group, so that neither we nor a compiler can
// move the store before the load.
bool depends_on(const Plan& plan, const FusionGroup& group, NodeId value, NodeId source) {
  std::set<NodeId> dependent{source};
  for (NodeId id : group.nodes)
    for (const Operand& operand : plan.graph[id].operands)
      if (dependent.count(operand.node)) dependent.insert(id);
  return dependent.count(value) > 0;
}

// Whether the kernel reads the input once, at the element it then writes.
bool replaces_each_element(const Program& program, GroupId group, NodeId input, NodeId result) {
  const Plan& plan = program.plan;
  if (!is_elementwise(program.kernels[group].config)) return false;
  if (plan.graph[input].dtype != plan.graph[result].dtype) return false;
  const IterationSpace space = iteration_space(plan, group);
  const Access& write = space.find_write(result);
  const auto is_read = [&](const Access& access) { return !access.write && access.node == input; };
  if (std::count_if(space.accesses.begin(), space.accesses.end(), is_read) != 1) return false;
  const Access& read = *std::find_if(space.accesses.begin(), space.accesses.end(), is_read);
  return read.offset == write.offset && read.start == 0 && write.start == 0 &&
         read.strides == write.strides && read.windows.empty() && !read.split &&
         depends_on(plan, plan.groups[group], result, input);
}

bool is_safe(const Program& program, const InPlace& pair) {
  const Plan& plan = program.plan;
  const NodeId input = plan.graph.inputs[pair.input];
  const NodeId result = plan.graph.outputs[pair.output].node;
  const GroupId writer = plan.group_of[result];
  if (writer < 0 || plan.placements[result].buffer != result) return false;
  // Results that are views of the input are copied after all kernels.
  for (const Operand& output : plan.graph.outputs)
    if (output.node == input) return false;
  for (GroupId g = writer; g < plan.groups.end_id(); ++g) {
    if (!reads(plan, plan.groups[g], input)) continue;
    if (g != writer || !replaces_each_element(program, g, input, result)) return false;
  }
  return true;
}

}  // namespace

void prepare_in_place(Program& program) {
  const std::vector<InPlace>& pairs = program.options.outputs.in_place;
  program.runs_in_place = std::all_of(pairs.begin(), pairs.end(),
                                      [&](const InPlace& pair) { return is_safe(program, pair); });
  if (!program.runs_in_place) return;
  for (const InPlace& pair : pairs) {
    const NodeId result = program.plan.graph.outputs[pair.output].node;
    const GroupId writer = program.plan.group_of[result];
    KernelBody& body = program.kernels[writer].body;
    if (tile::TileProgram* tile = tile_program(body)) tile->in_place = true;
  }
}

}  // namespace sinter
