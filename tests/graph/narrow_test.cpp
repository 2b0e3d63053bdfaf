// narrow_integers: which comparisons and casts read i32 afterwards, and that results do not change.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "src/graph/simplify.h"
#include "tests/support/graph_maker.h"
#include "tests/support/graph_reference.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::evaluate;
using testing_support::expanded;
using testing_support::GraphMaker;
using testing_support::rewritten_by;

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

class NarrowTest : public ::testing::Test {
 protected:
  Operand range(std::int64_t count, std::int64_t start = 0, std::int64_t step = 1) {
    return maker.range(count, Scalar::of(start), Scalar::of(step), DType::i64);
  }
  Operand number(std::int64_t value, const Shape& shape) {
    Operand operand = maker.number(0, shape, DType::i64);
    maker.graph[operand.node].value = Scalar::of(value);
    return operand;
  }
  Graph rewritten() const { return rewritten_by(narrow_integers, maker.graph); }

  // The dtype read by the only comparison or cast to f32.
  static DType read_by(const Graph& graph, Op op) {
    for (const Node& node : graph.nodes)
      if (node.op == op && node.dtype != DType::i32) return graph[node.operands[0].node].dtype;
    ADD_FAILURE() << "no " << name_of(op) << " in\n" << to_string(graph);
    return DType::boolean;
  }
  static bool has_i64(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
      return node.dtype == DType::i64 && node.op != Op::constant;
    });
  }

  GraphMaker maker;
};

TEST_F(NarrowTest, ACastOfARangeReadsI32) {
  maker.output(maker.cast(range(100, 7, -3), DType::f32));
  const Graph graph = rewritten();
  EXPECT_EQ(read_by(graph, Op::cast), DType::i32) << to_string(graph);
  EXPECT_FALSE(has_i64(graph)) << to_string(graph);
}

TEST_F(NarrowTest, ArithmeticThatStaysInRangeIsNarrow) {
  const Shape shape{100};
  const Operand i = range(100, -50);
  Operand y = maker.op(Op::add, {maker.op(Op::mul, {i, number(1000, shape)}), number(3, shape)});
  y = maker.op(Op::remainder, {maker.op(Op::floor_div, {y, number(-7, shape)}), number(11, shape)});
  y = maker.op(Op::maximum, {maker.op(Op::sub, {y, i}), maker.op(Op::neg, {i})});
  y = maker.op(Op::where, {maker.op(Op::lt, {i, number(4, shape)}), y, maker.op(Op::abs, {i})});
  maker.output(maker.cast(maker.op(Op::minimum, {y, maker.op(Op::square, {i})}), DType::f64));
  maker.output(maker.op(
      Op::clamp, {maker.cast(y, DType::f32), maker.number(-9, shape), maker.number(9, shape)}));
  EXPECT_FALSE(has_i64(rewritten())) << to_string(rewritten());
}

TEST_F(NarrowTest, ValuesThatMayExceedI32StayI64) {
  maker.output(maker.cast(range(3, kMost - 1), DType::f32));
  EXPECT_EQ(read_by(rewritten(), Op::cast), DType::i64);
  GraphMaker other;
  const Operand i =
      other.range(1 << 17, Scalar::of(std::int64_t{0}), Scalar::of(std::int64_t{1}), DType::i64);
  other.output(other.cast(other.op(Op::mul, {i, i}), DType::f32));
  EXPECT_EQ(read_by(narrow_integers(other.graph), Op::cast), DType::i64) << "2^34";
  GraphMaker unknown;
  unknown.output(unknown.cast(unknown.input({4}, DType::i64), DType::f32));
  EXPECT_EQ(read_by(narrow_integers(unknown.graph), Op::cast), DType::i64);
}

TEST_F(NarrowTest, OutputsStayI64) {
  const Operand i = range(8);
  maker.output(i);
  maker.output(maker.op(Op::add, {i, number(1, {8})}));
  const Graph graph = rewritten();
  for (const Operand& output : graph.outputs) EXPECT_EQ(graph[output.node].dtype, DType::i64);
}

// All comparisons with numbers just outside the range, outside i32, and off by multiples of 2^32.
TEST_F(NarrowTest, LabelsOfAnySizeCompareAsBefore) {
  const std::vector<double> labels = {-1,
                                      0,
                                      5,
                                      31,
                                      32,
                                      4294967296.0 + 5,
                                      -4294967296.0 + 5,
                                      9007199254740991.0,
                                      -9007199254740991.0,
                                      2147483648.0};
  const auto rows = static_cast<std::int64_t>(labels.size());
  const Operand label = maker.input({rows}, DType::i64);
  const Operand i = expanded(range(32), {rows, 32});
  for (Op op : {Op::eq, Op::ne, Op::lt, Op::le, Op::gt, Op::ge}) {
    maker.output(maker.op(op, {i, along_rows(label, 32)}));
    maker.output(maker.op(op, {along_rows(label, 32), i}));
  }
  const Graph graph = remove_dead(narrow_integers(maker.graph));
  verify(graph);
  for (const Node& node : graph.nodes) {
    if (node.dtype != DType::boolean) continue;
    for (const Operand& operand : node.operands)
      EXPECT_EQ(graph[operand.node].dtype, DType::i32) << to_string(graph);
  }
  EXPECT_EQ(evaluate(graph, {labels}), evaluate(maker.graph, {labels}));
}

TEST_F(NarrowTest, NumbersThatAreNotRepeatedAreNotClamped) {
  maker.output(maker.op(Op::eq, {range(32), maker.input({32}, DType::i64)}));
  EXPECT_EQ(read_by(rewritten(), Op::eq), DType::i64);
}

TEST_F(NarrowTest, I32TensorsThatWereWidenedAreReadAsTheyAre) {
  const Operand label = maker.cast(maker.input({32}, DType::i32), DType::i64);
  maker.output(maker.op(Op::eq, {range(32), label}));
  EXPECT_EQ(read_by(rewritten(), Op::eq), DType::i32);
}

}  // namespace
}  // namespace sinter
