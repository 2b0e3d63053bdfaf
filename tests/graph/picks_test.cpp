// pick_before_work: which sums pick an element before the work on it, and that values stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "src/graph/parse.h"
#include "src/graph/simplify.h"
#include "tests/support/graph_reference.h"

namespace sinter {
namespace {

using testing_support::evaluate;
using testing_support::expect_close;
using testing_support::Numbers;
using testing_support::random_inputs;

// A program over rows of 5 elements whose last line is given.
std::string program(const std::string& lines) {
  return "%x: f32(6, 5) = input\n"
         "%row: f32(6) = input\n"
         "%target: i64(6) = input\n"
         "%index: i64(5) = iota 0 step 1\n"
         "%is_target = eq %index, %target.unsqueeze(1)\n" +
         lines;
}

std::int64_t elements_computed(const Graph& graph, Op op) {
  std::int64_t count = 0;
  for (const Node& node : graph.nodes) count += node.op == op ? node.shape.numel() : 0;
  return count;
}

void expect_same_values(const Graph& graph) {
  const Graph picked = remove_dead(pick_before_work(graph));
  verify(picked);
  std::vector<Numbers> inputs = random_inputs(graph, 3);
  if (inputs.size() == 3) inputs[2] = {0, 4, 2, -1, 5, 2};  // two are out of range
  expect_close(evaluate(picked, inputs), evaluate(graph, inputs), 1e-6);
}

TEST(PicksTest, WorkWithValuesOfTheRowIsDoneOncePerRow) {
  const Graph graph = parse_graph(program(R"(
    %scaled = mul %x, 2.0
    %below = sub %scaled, %row.unsqueeze(1)
    %e = exp %below
    %share = div %e, %row.unsqueeze(1)
    %picked = where %is_target, %share, 0.0
    %y = sum %picked over axes 1
    return %y)"));
  const Graph picked = remove_dead(pick_before_work(graph));
  EXPECT_EQ(elements_computed(graph, Op::exp), 30);
  EXPECT_EQ(elements_computed(picked, Op::exp), 6) << to_string(picked);
  EXPECT_EQ(elements_computed(picked, Op::div), 6);
  expect_same_values(graph);
}

TEST(PicksTest, TotalsSumThePicksOfAllRows) {
  const Graph graph = parse_graph(program(R"(
    %below = sub %x, %row.unsqueeze(1)
    %picked = where %is_target, %below, 0.0
    %y = sum %picked over axes 0 1
    return %y)"));
  EXPECT_EQ(elements_computed(remove_dead(pick_before_work(graph)), Op::sub), 6);
  expect_same_values(graph);
}

TEST(PicksTest, OtherSumsStayAsTheyAre) {
  const char* const others[] = {
      // nothing to do once per row
      "%picked = where %is_target, %x, 0.0\n%y = sum %picked over axes 1\nreturn %y",
      // two tensors would be picked
      "%w = sin %x\n%v = add %x, %w\n"
      "%picked = where %is_target, %v, 0.0\n%y = sum %picked over axes 1\nreturn %y",
      // the others count
      "%below = sub %x, %row.unsqueeze(1)\n%picked = where %is_target, %below, 1.0\n"
      "%y = sum %picked over axes 1\nreturn %y",
      // a maximum
      "%below = sub %x, %row.unsqueeze(1)\n%picked = where %is_target, %below, 0.0\n"
      "%y = max %picked over axes 1\nreturn %y",
      // a sum along the other axis
      "%below = sub %x, %row.unsqueeze(1)\n%picked = where %is_target, %below, 0.0\n"
      "%y = sum %picked over axes 0\nreturn %y",
  };
  for (const char* lines : others) {
    const Graph graph = parse_graph(program(lines));
    EXPECT_EQ(to_string(pick_before_work(graph)), to_string(graph)) << lines;
  }
}

}  // namespace
}  // namespace sinter
