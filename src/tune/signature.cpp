// Nodes are numbered by their position in the group and external operands by first use, so a group
// has the same signature in any program.
#include "src/tune/signature.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>

#include "src/base/check.h"
#include "src/base/hash.h"

namespace sinter {
namespace {

constexpr int kMostDivisor = 16;          // in elements; no vector is longer
constexpr std::size_t kShownNames = 8;    // operations named in the readable part
constexpr std::size_t kShownDigits = 16;  // of the hash

int bucket(std::int64_t size) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1)) - 1);
}

int divisor(std::int64_t value) {
  int power = kMostDivisor;
  while (value % power != 0) power /= 2;
  return power;
}

std::string stride_class(std::int64_t stride) {
  if (stride == 0 || stride == 1) return std::to_string(stride);
  return fmt::format("{}*{}", stride < 0 ? "-" : "", divisor(stride));
}

std::string axes_text(const IterationSpace& space) {
  std::string text;
  for (const GroupAxis& axis : space.axes)
    text += fmt::format("{}2^{}{}", text.empty() ? "" : " ", bucket(axis.size),
                        axis.reduced ? "r" : "");
  return text.empty() ? "scalar" : text;
}

// Names nodes by position: "%2" in the group, "@0" outside it.
class NodeNames {
 public:
  NodeNames(const Plan& plan, const FusionGroup& group) : plan_(plan) {
    for (std::size_t i = 0; i < group.nodes.size(); ++i) inside_[group.nodes[i]] = i;
  }
  std::string of(NodeId node) {
    if (const auto it = inside_.find(node); it != inside_.end())
      return fmt::format("%{}", it->second);
    const auto [it, fresh] = outside_.try_emplace(node, outside_.size());
    const Node& from = plan_.graph[node];
    const bool is_memory = !is_scalar(from.op) && from.op != Op::iota;
    // A number is tuned like a constant: the kernels are the same.
    const Op op = from.op == Op::number ? Op::constant : from.op;
    return fmt::format("@{}{}:{}", it->second, is_memory ? "" : name_of(op), name_of(from.dtype));
  }

 private:
  const Plan& plan_;
  std::map<NodeId, std::size_t> inside_;
  std::map<NodeId, std::size_t> outside_;
};

const FusionGroup& group_at(const Plan& plan, GroupId group) { return plan.groups[group]; }

std::string readable(const Plan& plan, const FusionGroup& group, const IterationSpace& space) {
  std::vector<std::string_view> types;
  std::string ops;
  for (std::size_t i = 0; i < group.nodes.size(); ++i) {
    const Node& node = plan.graph[group.nodes[i]];
    if (i < kShownNames) ops += fmt::format(" {}", name_of(node));
  }
  if (group.nodes.size() > kShownNames)
    ops += fmt::format(" +{}", group.nodes.size() - kShownNames);
  for (const Access& access : space.accesses) {
    const std::string_view type = name_of(plan.graph[access.node].dtype);
    if (access.element_bytes > 0 && std::find(types.begin(), types.end(), type) == types.end())
      types.push_back(type);
  }
  return fmt::format("{} {}:{}", axes_text(space), fmt::join(types, " "), ops);
}

}  // namespace

std::string signature_text(const Plan& plan, GroupId g, const IterationSpace& space) {
  const FusionGroup& group = group_at(plan, g);
  NodeNames names(plan, group);
  std::string text = axes_text(space) + "\n";
  if (space.batch_invariant) text += "batch-invariant\n";
  for (NodeId id : group.nodes) {
    const Node& node = plan.graph[id];
    text += fmt::format("{} = {}:{}", names.of(id), name_of(node), name_of(node.dtype));
    for (const Operand& operand : node.operands) text += " " + names.of(operand.node);
    text += "\n";
  }
  for (const Access& access : space.accesses) {
    text += fmt::format("{} {} {} bytes {} at {}", access.write ? "write" : "read",
                        names.of(access.node), access.per_row ? "row" : "full",
                        access.element_bytes, divisor(access.offset));
    for (std::int64_t stride : access.strides) text += " " + stride_class(stride);
    if (access.start != 0) text += fmt::format(" from {}", divisor(access.start));
    for (const AxisWindow& window : access.windows)
      text +=
          fmt::format(" window {} {} {}", window.axis, divisor(window.first), divisor(window.last));
    if (access.split)
      text += fmt::format(" split {} {} {}", access.split->axis,
                          stride_class(access.split->outer_stride),
                          stride_class(access.split->inner_stride));
    text += "\n";
  }
  return text;
}

std::string group_signature(const Plan& plan, GroupId g, const IterationSpace& space) {
  return fmt::format("{} #{}", readable(plan, group_at(plan, g), space),
                     hash_bytes(signature_text(plan, g, space)).hex().substr(0, kShownDigits));
}

}  // namespace sinter
