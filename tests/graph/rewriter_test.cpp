// Copying graphs with edits.
#include "src/graph/rewriter.h"

#include <gtest/gtest.h>

#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

using testing_support::GraphMaker;
using testing_support::seen;
using testing_support::sliced;
using testing_support::transposed;

// The graph without the node: readers get its first operand.
Graph without(const Graph& graph, NodeId skipped) {
  return rewritten(graph, [&](GraphRewriter& rewriter, NodeId id) -> std::optional<Operand> {
    if (id != skipped) return std::nullopt;
    return rewriter.moved(graph[id].operands[0]);
  });
}

TEST(Rewriter, CopiesAGraphAsItIs) {
  GraphMaker maker;
  const Operand x = maker.input({4, 3});
  const Operand y = maker.op(Op::exp, {transposed(x)});
  maker.output(maker.reduce(ReduceKind::sum, y, {0}));
  const Graph copy =
      rewritten(maker.graph, [](GraphRewriter&, NodeId) { return std::optional<Operand>{}; });
  EXPECT_EQ(to_string(copy), to_string(maker.graph));
  EXPECT_EQ(copy.inputs, maker.graph.inputs);
}

TEST(Rewriter, ComposesTheViewsOfAReplacement) {
  GraphMaker maker;
  const Operand x = maker.input({4, 3});
  const Operand copy = maker.op(Op::copy, {transposed(x)});
  maker.output(maker.op(Op::exp, {sliced(copy, 0, 1, 2)}));
  const Graph result = without(maker.graph, copy.node);
  verify(result);
  const Node& exp = result[result.outputs[0].node];
  EXPECT_EQ(exp.operands[0].view, slice(permute(dense_view({4, 3}), {1, 0}), 0, 1, 2, 1));
}

TEST(Rewriter, CopiesAReplacementWhoseViewsDoNotCompose) {
  GraphMaker maker;
  const Operand x = maker.input({4, 3});
  const Operand copy = maker.op(Op::copy, {transposed(x)});
  maker.output(maker.op(Op::exp, {seen(copy, dense_view({12}))}));  // needs two strides
  const Graph result = without(maker.graph, copy.node);
  verify(result);
  const Node& exp = result[result.outputs[0].node];
  EXPECT_EQ(result[exp.operands[0].node].op, Op::copy);
}

TEST(Rewriter, KeepsOrigins) {
  GraphMaker maker;
  maker.graph.origins.push_back({"softmax", ""});
  maker.build.set_origin(0);
  const Operand x = maker.input({4});
  maker.output(maker.op(Op::exp, {x}));
  const Graph result = rewritten(maker.graph, [&](GraphRewriter& rewriter, NodeId id) {
    // A new node gets the origin of the node it replaces.
    return std::optional(
        rewriter.build().pointwise(Op::neg, {rewriter.moved(maker.graph[id].operands[0])}));
  });
  EXPECT_EQ(result[result.outputs[0].node].origin, 0);
  EXPECT_EQ(result.origins, maker.graph.origins);
}

}  // namespace
}  // namespace sinter
