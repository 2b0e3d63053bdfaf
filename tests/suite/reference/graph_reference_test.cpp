// The evaluator of graphs: its values against a brute-force one, its bounds against real results.
#include "src/suite/reference/graph_reference.h"

#include <gtest/gtest.h>
#include <sinter/device.h>

#include <cmath>

#include "src/graph/parse.h"
#include "tests/support/graph_reference.h"
#include "tests/support/random_graph.h"

namespace sinter::suite {
namespace {

using bounded::Bounded;

constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

std::vector<std::vector<Bounded>> evaluate_all(const Graph& graph,
                                               const std::vector<Tensor>& inputs,
                                               Roundings roundings = Roundings::outputs) {
  ThreadPool threads(2);
  return evaluate_graph(graph, *choose_sample(graph, kPlenty), inputs,
                        {bounded::Kernels::host, roundings}, threads);
}

TEST(GraphReference, PaddedViewsShowTheirFill) {
  const Graph graph = parse_graph(
      "%x: f32(2, 2) = input\n"
      "%y = add %x.pad(1, 1, 0) else 5.0, 1.0\n"
      "%z = sum %x.pad(0, 0, 2) over axis 0\n"
      "return %y, %z\n");
  const auto got = evaluate_all(graph, {from_vector<float>({1, 2, 3, 4}, {2, 2})});
  const std::vector<std::vector<double>> want = {{6, 2, 3, 6, 4, 5}, {4, 6}};
  for (std::size_t k = 0; k < want.size(); ++k) {
    ASSERT_EQ(got[k].size(), want[k].size());
    for (std::size_t i = 0; i < want[k].size(); ++i) EXPECT_EQ(got[k][i].value, want[k][i]) << k;
  }
}

TEST(GraphReference, AgreesWithBruteForce) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Graph graph = testing_support::random_graph(seed);
    const auto numbers = testing_support::random_inputs(graph, seed);
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      // An input that nothing reads has no numbers.
      std::vector<float> values(static_cast<std::size_t>(graph[graph.inputs[i]].shape.numel()));
      std::copy(numbers[i].begin(), numbers[i].end(), values.begin());
      inputs.push_back(from_vector(values, graph[graph.inputs[i]].shape));
    }
    const auto want = testing_support::evaluate(graph, numbers);
    const auto got = evaluate_all(graph, inputs);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t k = 0; k < want.size(); ++k) {
      ASSERT_EQ(got[k].size(), want[k].size());
      for (std::size_t i = 0; i < want[k].size(); ++i)
        if (got[k][i].known()) {
          EXPECT_NEAR(got[k][i].value, want[k][i], 1e-6 * (1 + std::fabs(want[k][i])))
              << seed << " output " << k << " element " << i;
        }
    }
  }
}

TEST(GraphReference, IntegersAreExact) {
  const Graph graph = parse_graph(
      "%x: i64(3) = input\n%y = add %x, 1\n%s = sum %x over axis 0\n%i = argmax %x over axis 0\n"
      "return %y, %s, %i\n");
  const std::int64_t large = (std::int64_t{1} << 60) + 1;  // not a double
  const std::vector<std::int64_t> values{5, large, -7};
  const auto got = evaluate_all(graph, {from_vector(values, {3})});
  EXPECT_EQ(got[0][1].integer, large + 1);
  EXPECT_EQ(got[1][0].integer, large - 2);
  EXPECT_EQ(got[2][0].integer, 1);
}

TEST(GraphReference, TakesNumbersFromTheExample) {
  const Graph graph = parse_graph(
      "#lr = argument real 0.5\n#two = 2.0\n#twice = mul f64 #lr, #two\n%x: f32(2) = input\n"
      "%y = mul %x, #twice\nreturn %y\n");
  const auto got = evaluate_all(graph, {from_vector(std::vector<float>{3, 4}, {2})});
  EXPECT_EQ(got[0][0].value, 3);
  EXPECT_EQ(got[0][1].value, 4);
}

TEST(GraphReference, ContractsAndConcatenates) {
  const Graph graph = parse_graph(
      "%a: f32(2, 3) = input\n%b: f32(3, 2) = input\n"
      "%c = contract %a.unsqueeze(1).expand(2, 2, 3), "
      "%b.transpose(0, 1).unsqueeze(0).expand(2, 2, 3) over axis 2\n"
      "%d = concat %c, %a axis 1\nreturn %d\n");
  const std::vector<float> a{1, 2, 3, 4, 5, 6};
  const std::vector<float> b{1, 0, 0, 1, 1, 1};
  const auto got = evaluate_all(graph, {from_vector(a, {2, 3}), from_vector(b, {3, 2})});
  const std::vector<double> want{4, 5, 1, 2, 3, 10, 11, 4, 5, 6};
  ASSERT_EQ(got[0].size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got[0][i].value, want[i]) << i;
}

TEST(GraphReference, SixteenBitValuesHaveWiderBoundsBetweenKernels) {
  const Graph graph = parse_graph(
      "%x: bf16(1) = input\n%y = exp %x\n%z = mul %y, %y\n%w = mul %z, %y\nreturn %w\n");
  const std::vector<BFloat16> one{BFloat16(0.7f)};
  const auto once = evaluate_all(graph, {from_vector(one, {1})}, Roundings::outputs);
  const auto often = evaluate_all(graph, {from_vector(one, {1})}, Roundings::each_value);
  ASSERT_TRUE(once[0][0].known() && often[0][0].known());
  EXPECT_EQ(once[0][0].value, often[0][0].value);
  EXPECT_LT(once[0][0].error, 0x1p-7 * once[0][0].value);
  EXPECT_GT(often[0][0].error, 3 * once[0][0].error);
}

}  // namespace
}  // namespace sinter::suite
