// expand_powers: which exponents become products and roots, and that pow's special cases and its
// accuracy stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/graph/scalar_math.h"
#include "src/graph/simplify.h"
#include "tests/support/graph_maker.h"
#include "tests/support/graph_reference.h"

namespace sinter {
namespace {

using testing_support::evaluate;
using testing_support::GraphMaker;
using testing_support::rewritten_by;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMost = std::numeric_limits<double>::max();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

Graph power_graph(double exponent, const Shape& shape, DType dtype = DType::f64) {
  GraphMaker maker;
  const Operand x = maker.input(shape, dtype);
  maker.output(maker.op(Op::pow, {x, maker.number(exponent, shape, dtype)}));
  return maker.graph;
}

std::int64_t count(const Graph& graph, Op op) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                       [&](const Node& node) { return node.op == op; });
}

std::string bits_of(double x) {
  return std::isnan(x) ? "nan" : (std::signbit(x) ? "-" : "+") + std::to_string(std::fabs(x));
}

TEST(ExpandPowersTest, SpecialValuesAreThoseOfPow) {
  const std::vector<double> x = {0.0,     -0.0,  1.0,    -1.0,   kInf,   -kInf,   kNan,
                                 2.5,     -2.5,  kMost,  -kMost, kLeast, -kLeast, 1e-200,
                                 -1e-200, 1e200, -1e200, 0.25,   -0.25};
  const Shape shape{static_cast<std::int64_t>(x.size())};
  for (double n : {2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -1.0, -2.0, -3.0, -4.0, 0.5, -0.5}) {
    const Graph graph = expand_powers(power_graph(n, shape));
    EXPECT_EQ(count(remove_dead(graph), Op::pow), 0) << n;
    verify(graph);
    const auto got = evaluate(graph, {x})[0];
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = std::pow(x[i], n);
      if (std::isfinite(want) && want != 0)
        EXPECT_NEAR(got[i] / want, 1, 1e-14) << x[i] << "^" << n;
      else
        EXPECT_EQ(bits_of(got[i]), bits_of(want)) << x[i] << "^" << n;
    }
  }
}

TEST(ExpandPowersTest, ExponentsZeroAndOneFold) {
  for (double n : {0.0, 1.0}) {
    const Graph graph = remove_dead(fold_constants(power_graph(n, {3})));
    EXPECT_EQ(count(graph, Op::pow), 0) << n;
    const auto got = evaluate(graph, {{kNan, -2, kInf}})[0];
    EXPECT_EQ(bits_of(got[0]), bits_of(std::pow(kNan, n)));
    EXPECT_EQ(got[1], std::pow(-2, n));
    EXPECT_EQ(got[2], std::pow(kInf, n));
  }
  GraphMaker maker;
  maker.output(maker.op(Op::pow, {maker.number(1, {2}), maker.input({2})}));
  EXPECT_EQ(count(remove_dead(fold_constants(maker.graph)), Op::pow), 0) << "1 to any power is 1";
}

// Every product rounds once: |n| - 1 times in all, and once more for each of a reciprocal's
// factors.
TEST(ExpandPowersTest, ErrorsInF32AreAFewRoundings) {
  for (int n : {2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4}) {
    double worst = 0;
    for (int i = 1; i < 4000; ++i) {
      const float x = 0.5F + 0.00037F * static_cast<float>(i);
      float product = n > 0 ? x : 1 / x;
      const float factor = product;
      const int factors = std::abs(n);  // as product() has them
      auto power = [&](auto self, int m) -> float {
        if (m == 1) return factor;
        if (m % 2 == 0) return self(self, m / 2) * self(self, m / 2);
        return self(self, m - 1) * factor;
      };
      product = power(power, factors);
      const double want = std::pow(static_cast<double>(x), n);
      worst = std::max(worst, std::fabs(product / want - 1) * 0x1p24);
    }
    EXPECT_LE(worst, n > 0 ? n - 1 : -2 * n - 1) << "x^" << n << ", in roundings of f32";
  }
}

TEST(ExpandPowersTest, OtherExponentsStay) {
  for (double n : {1.5, 9.0, -5.0, 0.25, 2.0000001, kInf, kNan})
    EXPECT_EQ(count(expand_powers(power_graph(n, {2})), Op::pow), 1) << n;
  GraphMaker maker;
  const Operand x = maker.input({2});
  maker.output(maker.op(Op::pow, {x, x}));
  EXPECT_EQ(count(expand_powers(maker.graph), Op::pow), 1) << "no constant";
}

TEST(ExpandPowersTest, SixteenBitTensorsKeepTheirDtype) {
  for (DType dtype : {DType::f16, DType::bf16, DType::f32})
    for (double n : {2.0, -3.0, 0.5, -0.5}) {
      const Graph graph = expand_powers(power_graph(n, {2, 3}, dtype));
      verify(graph);
      EXPECT_EQ(count(remove_dead(graph), Op::pow), 0);
      EXPECT_EQ(graph[graph.outputs[0].node].dtype, dtype);
    }
}

TEST(ExpandPowersTest, TheBaseMayBeAView) {
  GraphMaker maker;
  const Operand x = maker.input({3, 4});
  maker.output(maker.op(Op::pow, {testing_support::transposed(x), maker.number(3, {4, 3})}));
  EXPECT_EQ(count(rewritten_by(expand_powers, maker.graph), Op::pow), 0);
}

}  // namespace
}  // namespace sinter
