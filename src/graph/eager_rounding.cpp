// Turns a 16-bit operation into an f32 operation between casts: kernels compute it in f32 anyway,
// and a cast always rounds.
#include "src/graph/eager_rounding.h"

#include <utility>

#include "src/graph/rewriter.h"

namespace sinter {
namespace {

bool is_narrow(DType dtype) { return compute_dtype(dtype) != dtype; }

bool rounds(const Node& node) {
  const bool computes = is_reduction(node.op) || is_pointwise(node.op);
  return computes && node.op != Op::cast && node.op != Op::copy && is_narrow(node.dtype);
}

}  // namespace

Graph round_every_result(const Graph& graph) {
  return rewritten(graph, [&](GraphRewriter& rewriter, NodeId id) -> std::optional<Operand> {
    if (!rounds(graph[id])) return std::nullopt;
    GraphBuilder& build = rewriter.build();
    Node wide = rewriter.moved_node(id);
    wide.dtype = compute_dtype(wide.dtype);
    const bool reads_narrow = wide.op == Op::contract;  // exact products of 16-bit operands
    for (Operand& operand : wide.operands)
      if (!reads_narrow && is_narrow(build.graph().dtype(operand)))
        operand = build.cast(operand, wide.dtype);
    return build.cast(build.add(std::move(wide)), graph[id].dtype);
  });
}

}  // namespace sinter
