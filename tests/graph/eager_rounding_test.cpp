// round_every_result(): where it inserts casts, and the resulting values.
#include "src/graph/eager_rounding.h"

#include <gtest/gtest.h>

#include "tests/support/graph_maker.h"
#include "tests/support/graph_reference.h"

namespace sinter {
namespace {

using testing_support::GraphMaker;

TEST(RoundEveryResult, ComputesSixteenBitOperationsBetweenCasts) {
  GraphMaker maker;
  const Operand x = maker.input({4}, DType::bf16);
  maker.output(maker.op(Op::exp, {maker.op(Op::mul, {x, x})}));
  const Graph rounded = round_every_result(maker.graph);
  verify(rounded);
  int casts_to_bf16 = 0;
  for (const Node& node : rounded.nodes) {
    if (node.op == Op::mul || node.op == Op::exp) {
      EXPECT_EQ(node.dtype, DType::f32);
    }
    if (node.op == Op::cast && node.dtype == DType::bf16) ++casts_to_bf16;
  }
  EXPECT_EQ(casts_to_bf16, 2) << to_string(rounded);
  EXPECT_EQ(rounded[rounded.outputs[0].node].dtype, DType::bf16);
}

TEST(RoundEveryResult, LeavesWhatRoundsNothingAlone) {
  GraphMaker maker;
  const Operand x = maker.input({4}, DType::f16);
  const Operand y = maker.input({4}, DType::f32);
  maker.output(maker.op(Op::lt, {x, x}));
  maker.output(maker.op(Op::copy, {x}));
  maker.output(maker.op(Op::exp, {y}));
  maker.output(maker.cast(y, DType::f16));
  EXPECT_EQ(to_string(round_every_result(maker.graph)), to_string(maker.graph));
}

TEST(RoundEveryResult, ReductionsRoundTheirTotals) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6}, DType::f16);
  maker.output(maker.reduce(ReduceKind::sum, x, {1}));
  const Graph rounded = round_every_result(maker.graph);
  verify(rounded);
  EXPECT_EQ(rounded[rounded.outputs[0].node].op, Op::cast);
  for (const Node& node : rounded.nodes)
    if (node.op == Op::reduce) {
      EXPECT_EQ(node.dtype, DType::f32);
    }
}

}  // namespace
}  // namespace sinter
