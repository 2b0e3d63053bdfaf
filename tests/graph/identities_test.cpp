// use_identities: which programs it rewrites, into what, and which it leaves alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/graph/simplify.h"
#include "tests/support/graph_maker.h"
#include "tests/support/graph_reference.h"
#include "tests/support/same_graph.h"

namespace sinter {
namespace {

using testing_support::after;
using testing_support::GraphMaker;
using testing_support::rewritten_by;

const Shape kShape{4, 8};

class IdentitiesTest : public ::testing::Test {
 protected:
  Operand constant(double value) { return maker.number(value, kShape); }
  Operand mul(const Operand& a, const Operand& b) { return maker.op(Op::mul, {a, b}); }
  Operand one_plus_tanh(const Operand& u) {
    return maker.op(Op::add, {constant(1), maker.op(Op::tanh, {u})});
  }
  Graph rewritten() const { return rewritten_by(use_identities, maker.graph); }

  static std::int64_t count(const Graph& graph, Op op) {
    return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                         [&](const Node& node) { return node.op == op; });
  }
  static bool has_constant(const Graph& graph, double value) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
      return node.op == Op::constant && node.value.as(DType::f64).real == value;
    });
  }

  GraphMaker maker;
  const Operand x = maker.input(kShape);
};

TEST_F(IdentitiesTest, OnePlusTanhIsASigmoid) {
  EXPECT_EQ(after(use_identities, R"(
              %x: f32(4) = input
              %tanh = tanh %x
              %y = add 1.0, %tanh
              return %y)"),
            "%0: f32(4) = input\n"
            "%2: f32(4) = mul 2.0, %0\n"
            "%3: f32(4) = sigmoid %2\n"
            "%5: f32(4) = mul 2.0, %3\n"
            "return %5\n");
}

// x 0.5 (1 + tanh(0.75 x)) is x sigmoid(1.5 x).
TEST_F(IdentitiesTest, TwosGoToConstantFactors) {
  const Operand half = mul(x, constant(0.5));
  maker.output(mul(half, one_plus_tanh(mul(constant(0.75), x))));
  const Graph graph = rewritten();
  EXPECT_EQ(count(graph, Op::mul), 2) << to_string(graph);
  EXPECT_TRUE(has_constant(graph, 1.5)) << to_string(graph);
  EXPECT_FALSE(has_constant(graph, 2)) << to_string(graph);
  EXPECT_FALSE(has_constant(graph, 0.5)) << to_string(graph);
}

TEST_F(IdentitiesTest, FactorsOf16BitTensorsKeepTheirDigits) {
  GraphMaker narrow;
  const Operand y = narrow.input(kShape, DType::bf16);
  const Operand u = narrow.op(Op::mul, {narrow.number(0.7978845, kShape, DType::bf16), y});
  const Operand tanh = narrow.op(Op::tanh, {u});
  narrow.output(narrow.op(Op::add, {narrow.number(1, kShape, DType::bf16), tanh}));
  for (Node& node : narrow.graph.nodes)  // rounded to f32, like a program's numbers
    if (node.op == Op::constant && node.value.as(DType::f64).real < 1)
      node.value = Scalar::of(0.7978845).as(DType::f32);
  EXPECT_TRUE(has_constant(use_identities(narrow.graph), 2 * double{0.7978845F}));
}

TEST_F(IdentitiesTest, AFactorDeepInAProductTakesTheTwo) {
  const Operand product = mul(mul(mul(constant(0.375), x), x), x);
  maker.output(mul(product, one_plus_tanh(x)));
  const Graph graph = rewritten();
  EXPECT_TRUE(has_constant(graph, 0.75)) << to_string(graph);
  EXPECT_FALSE(has_constant(graph, 0.375)) << to_string(graph);
}

// x 3 (1 + tanh(x)) for the lowest x: 6x would be -inf, and -inf * 0 is NaN.
TEST_F(IdentitiesTest, NoFactorGrowsBeyondOne) {
  maker.output(mul(mul(x, constant(3)), one_plus_tanh(x)));
  EXPECT_TRUE(has_constant(rewritten(), 3)) << to_string(rewritten());
}

TEST_F(IdentitiesTest, ValuesWithOtherUsersStayUnchanged) {
  const Operand half = mul(x, constant(0.5));
  const Operand sum = one_plus_tanh(x);
  maker.output(mul(half, sum));
  maker.output(half);
  maker.output(sum);
  const Graph graph = rewritten();
  EXPECT_TRUE(has_constant(graph, 0.5)) << to_string(graph);
  EXPECT_TRUE(has_constant(graph, 2)) << to_string(graph);
  GraphMaker other;
  const Operand tanh = other.op(Op::tanh, {other.input(kShape)});
  other.output(other.op(Op::add, {other.number(1, kShape), tanh}));
  other.output(tanh);
  EXPECT_EQ(count(use_identities(other.graph), Op::sigmoid), 0);
}

}  // namespace
}  // namespace sinter
