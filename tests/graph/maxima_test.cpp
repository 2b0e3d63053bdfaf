// reuse_maxima: which maxima it derives from others, which it leaves alone, and that NaNs and
// infinities stay the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/graph/simplify.h"
#include "tests/support/graph_maker.h"
#include "tests/support/graph_reference.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::evaluate;
using testing_support::expect_close;
using testing_support::GraphMaker;
using testing_support::Numbers;
using testing_support::rewritten_by;
using testing_support::transposed;

const Shape kShape{4, 8};

class MaximaTest : public ::testing::Test {
 protected:
  Operand max_of(const Operand& u, int axis = 1) { return m.reduce(ReduceKind::max, u, {axis}); }
  Operand rows(const Operand& row) { return along_rows(row, kShape[1]); }
  Operand below_max(const Operand& u) { return m.op(Op::sub, {u, rows(max_of(u))}); }
  Operand part_of_sum(const Operand& u) {
    const Operand sum = m.reduce(ReduceKind::sum, u, {1});
    return m.op(Op::mul, {u, rows(m.op(Op::reciprocal, {sum}))});
  }
  Operand softmax(const Operand& u) { return part_of_sum(m.op(Op::exp, {below_max(u)})); }

  Graph rewritten() const { return rewritten_by(reuse_maxima, m.graph); }
  static std::int64_t maxima(const Graph& graph) {
    return std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
      return node.op == Op::reduce && node.reduce_kind == ReduceKind::max;
    });
  }

  GraphMaker m;
  const Operand x = m.input(kShape);
};

TEST_F(MaximaTest, ASoftmaxsMaximumNeedsNoReduction) {
  m.output(max_of(softmax(x)));
  EXPECT_EQ(maxima(rewritten()), 1) << "that of x";
}

TEST_F(MaximaTest, ASoftmaxOfASoftmaxHasThreeReductions) {
  m.output(softmax(softmax(x)));
  const Graph graph = rewritten();
  EXPECT_EQ(maxima(graph), 1);
  EXPECT_EQ(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                          [](const Node& node) { return node.op == Op::reduce; }),
            3);
}

TEST_F(MaximaTest, AKnownMaximumIsKnownToTheNext) {
  m.output(softmax(softmax(softmax(x))));
  EXPECT_EQ(maxima(rewritten()), 1);
}

// The sum of the exponentials may be so small that its reciprocal is infinite.
TEST_F(MaximaTest, ExponentialsOfAnythingAreNoSoftmax) {
  m.output(max_of(x));
  m.output(max_of(part_of_sum(m.op(Op::exp, {x}))));
  EXPECT_EQ(maxima(rewritten()), 2);
}

TEST_F(MaximaTest, RoundingGrowsToo) {
  const Operand rounded = m.cast(m.cast(softmax(x), DType::f16), DType::f32);
  m.output(max_of(rounded));
  EXPECT_EQ(maxima(rewritten()), 1);
}

TEST_F(MaximaTest, MaximaOfExponentialsComeFromTheirArguments) {
  m.output(max_of(x));
  m.output(max_of(m.op(Op::exp, {x})));
  EXPECT_EQ(maxima(rewritten()), 1);
}

TEST_F(MaximaTest, NothingIsGainedWhereNoMaximumIsKnown) {
  m.output(max_of(m.op(Op::exp, {x})));
  EXPECT_EQ(maxima(rewritten()), 1);
  EXPECT_EQ(to_string(reuse_maxima(m.graph)), to_string(m.graph));
}

TEST_F(MaximaTest, OtherAxesHaveOtherMaxima) {
  m.output(max_of(x, 0));
  m.output(max_of(m.op(Op::exp, {x}), 1));
  EXPECT_EQ(maxima(rewritten()), 2);
}

TEST_F(MaximaTest, OtherRowsMayMakeNaN) {
  const Operand other = m.input({kShape[0]});
  m.output(max_of(x));
  m.output(max_of(m.op(Op::sub, {x, rows(other)})));
  const Operand powers = m.op(Op::exp, {x});
  m.output(max_of(m.op(Op::mul, {powers, rows(m.op(Op::reciprocal, {other}))})));
  EXPECT_EQ(maxima(rewritten()), 3);
}

// exp(x) times 1 / sum(x): the sum may be negative.
TEST_F(MaximaTest, APartOfAnotherSumMayShrink) {
  m.output(max_of(x));
  const Operand sum = m.reduce(ReduceKind::sum, x, {1});
  m.output(max_of(m.op(Op::mul, {m.op(Op::exp, {x}), rows(m.op(Op::reciprocal, {sum}))})));
  EXPECT_EQ(maxima(rewritten()), 2);
}

TEST_F(MaximaTest, ATransposedViewHasOtherRows) {
  const Operand square = m.input({4, 4});
  m.output(m.reduce(ReduceKind::max, square, {1}));
  m.output(m.reduce(ReduceKind::max, m.op(Op::exp, {transposed(square)}), {1}));
  EXPECT_EQ(maxima(rewritten()), 2);
}

TEST_F(MaximaTest, WholeNumbersAreLeftAlone) {
  m.output(max_of(x));
  m.output(max_of(m.cast(x, DType::i32)));
  EXPECT_EQ(maxima(rewritten()), 2);
}

TEST_F(MaximaTest, InfinitiesAndNaNComeOutTheSame) {
  m.output(max_of(softmax(x)));
  m.output(max_of(m.op(Op::exp, {x})));
  const Graph graph = reuse_maxima(m.graph);
  const double inf = std::numeric_limits<double>::infinity();
  Numbers values(32, 0.5);
  values[3] = inf;
  std::fill(values.begin() + 8, values.begin() + 16, -inf);
  values[17] = std::nan("");
  values[26] = -inf;
  expect_close(evaluate(graph, {values}), evaluate(m.graph, {values}), 0, to_string(graph));
}

}  // namespace
}  // namespace sinter
