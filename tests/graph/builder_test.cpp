// The nodes GraphBuilder makes.
#include "src/graph/builder.h"

#include <gtest/gtest.h>

#include "src/base/check.h"

namespace sinter {
namespace {

class Builder : public testing::Test {
 protected:
  Graph graph;
  GraphBuilder build{graph};
};

TEST_F(Builder, BroadcastsOperands) {
  const Operand rows = build.input(DType::f32, {4, 1});
  const Operand columns = build.input(DType::f32, {3});
  const Operand sum = build.pointwise(Op::add, {rows, columns});
  EXPECT_EQ(graph[sum.node].shape, (Shape{4, 3}));
  EXPECT_EQ(graph[sum.node].operands[0].view, expand(rows.view, {4, 3}));
  EXPECT_EQ(graph[sum.node].operands[1].view, expand(columns.view, {4, 3}));
  verify(graph);
}

TEST_F(Builder, RefusesShapesThatDoNotBroadcast) {
  const Operand a = build.input(DType::f32, {4});
  const Operand b = build.input(DType::f32, {3});
  EXPECT_THROW(build.pointwise(Op::add, {a, b}), InternalError);
}

TEST_F(Builder, CastsOperandsByTheRuleOfTheOp) {
  const Operand whole = build.input(DType::i32, {4});
  const Operand real = build.input(DType::f64, {4});
  const Operand sum = build.pointwise(Op::add, {whole, real});
  EXPECT_EQ(graph[sum.node].dtype, DType::f64);
  EXPECT_EQ(graph[graph[sum.node].operands[0].node].op, Op::cast);
  EXPECT_EQ(graph[sum.node].operands[1], real) << "needs no cast";
  const Operand root = build.pointwise(Op::sqrt, {whole});
  EXPECT_EQ(graph[root.node].dtype, DType::f32);
  verify(graph);
}

TEST_F(Builder, UsesTheOpThatTheDTypeHas) {
  const Operand flags = build.input(DType::boolean, {4});
  EXPECT_EQ(graph[build.pointwise(Op::add, {flags, flags}).node].op, Op::logical_or);
  verify(graph);
}

TEST_F(Builder, NumbersKeepThePrecisionThatKernelsComputeIn) {
  const Operand x = build.input(DType::f16, {4});
  const Operand tenth = build.number_like(x, 0.1);
  EXPECT_EQ(graph[tenth.node].dtype, DType::f16);
  EXPECT_EQ(graph[tenth.node].value.real, static_cast<double>(0.1f));
  EXPECT_EQ(tenth.view.shape, x.view.shape);
}

TEST_F(Builder, OperandsMayLieInTheGraphItself) {
  const Operand x = build.input(DType::i32, {4});
  const Operand first = build.pointwise(Op::add, {x, x});
  for (int i = 0; i < 100; ++i) build.pointwise(Op::sqrt, graph[first.node].operands);
}

TEST_F(Builder, GivesNodesTheirOrigin) {
  graph.origins.push_back({"softmax", "encoder"});
  build.set_origin(0);
  const Operand x = build.input(DType::f32, {4});
  const Operand y = build.pointwise(Op::exp, {x});
  EXPECT_EQ(graph[y.node].origin, 0);
  EXPECT_EQ(to_string(graph.origins[0]), "encoder/softmax");
}

}  // namespace
}  // namespace sinter
