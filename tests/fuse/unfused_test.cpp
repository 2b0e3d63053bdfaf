// What the planner does not fuse: the reasons it gives, and the limits of one kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/fuse/plan_checks.h"
#include "tests/support/graph_maker.h"
#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::expanded;
using testing_support::expect_reference_values;
using testing_support::GraphMaker;
using testing_support::plan_of;
using testing_support::reasons;
using testing_support::seen;
using testing_support::sliced;
using testing_support::trace_graph;
using testing_support::transposed;
using Tensors = std::vector<Tensor>;

// --- edges ---

TEST(UnfusedTest, ReductionsOverDifferentAxesAreApart) {
  const Graph graph = trace_graph({Shape{64, 96}}, [](const Tensors& in) {
    const Tensor y = exp(in[0]);
    return Tensors{y / sum(y, 0, true) + y / sum(y, 1, true)};
  });
  const Plan plan = plan_of(graph);
  EXPECT_GE(plan.groups.size(), 2u);
  EXPECT_NE(reasons(plan).find("one reduces over axes"), std::string::npos) << to_string(plan);
  expect_reference_values(graph, plan);
}

TEST(UnfusedTest, ReductionsOverDifferentAxesSayWhichAxes) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand rows = maker.reduce(ReduceKind::sum, x, {1});
  const Operand centred = maker.op(Op::sub, {x, along_rows(rows, 6)});
  maker.output(maker.reduce(ReduceKind::max, centred, {0}));
  const Plan plan = plan_of(maker.graph);
  ASSERT_EQ(plan.groups.size(), 2u) << to_string(plan);
  ASSERT_EQ(plan.unfused.size(), 1u);
  EXPECT_EQ(plan.unfused[0].reason, "one reduces over axes 1, the other over axes 0");
  EXPECT_EQ(plan.unfused[0].bytes, 2 * 4 * 6 * 4) << "written once, read once";
  expect_reference_values(maker.graph, plan);
}

TEST(UnfusedTest, ReductionsOverDifferentShapesAreApart) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand rows = maker.reduce(ReduceKind::sum, x, {1});
  maker.output(maker.reduce(ReduceKind::max, rows, {0}));
  const Plan plan = plan_of(maker.graph);
  ASSERT_EQ(plan.groups.size(), 2u);
  ASSERT_EQ(plan.unfused.size(), 1u);
  EXPECT_EQ(plan.unfused[0].reason, "they reduce over different shapes: (4, 6) and (4)");
}

TEST(UnfusedTest, ATransposedIntermediateIsRefusedWithItsView) {
  GraphMaker maker;
  const Operand x = maker.input({6, 6});
  const Operand y = maker.op(Op::exp, {x});
  const Operand z = maker.op(Op::add, {y, transposed(y)});
  maker.output(z);
  const Plan plan = plan_of(maker.graph);
  ASSERT_EQ(plan.groups.size(), 2u) << to_string(plan);
  ASSERT_EQ(plan.unfused.size(), 1u) << "one edge, though read twice";
  EXPECT_EQ(plan.unfused[0].reason,
            "%2 reads %1 through another view ((6, 6) strides (1, 6) offset 0)");
  expect_reference_values(maker.graph, plan);
}

TEST(UnfusedTest, DifferentShapesAreRefusedWithBoth) {
  GraphMaker maker;
  const Operand bias = maker.input({6});
  const Operand x = maker.input({4, 6});
  const Operand heavy = maker.op(Op::exp, {bias});
  maker.output(maker.op(Op::add, {x, expanded(heavy, {4, 6})}));
  const Plan plan = plan_of(maker.graph);
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(reasons(plan), "they walk different shapes: (6) and (4, 6)\n");
  expect_reference_values(maker.graph, plan);
}

TEST(UnfusedTest, RowValuesFromOtherRowsAreRefused) {
  // y runs along the reduced axis, but its first column is read as a per-row value.
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand y = maker.op(Op::exp, {x});
  const Operand rows = maker.reduce(ReduceKind::sum, y, {1});
  const Operand first = sliced(y, 1, 0, 1);
  const Operand column = seen(first, remove_axis(first.view, 1));
  maker.output(maker.op(Op::mul, {rows, column}));
  const Plan plan = plan_of(maker.graph);
  EXPECT_EQ(plan.groups.size(), 2u) << to_string(plan);
  EXPECT_NE(reasons(plan).find("needs parts of"), std::string::npos) << to_string(plan);
  expect_reference_values(maker.graph, plan);
}

TEST(UnfusedTest, ADiamondDoesNotBecomeACycle) {
  // a feeds b (transposed, so not fused) and both feed c: a and c cannot share a kernel around b.
  GraphMaker maker;
  const Operand x = maker.input({6, 6});
  const Operand a = maker.op(Op::exp, {x});
  const Operand b = maker.reduce(ReduceKind::sum, transposed(a), {1});
  const Operand scaled = maker.op(Op::sqrt, {b});
  maker.output(maker.op(Op::add, {a, along_rows(scaled, 6)}));
  const Plan plan = plan_of(maker.graph);
  EXPECT_GE(plan.groups.size(), 2u) << to_string(plan);
  EXPECT_NE(reasons(plan).find("through another view"), std::string::npos) << to_string(plan);
  expect_reference_values(maker.graph, plan);
}

TEST(UnfusedTest, APathThroughAThirdKernelIsNamedAsTheReason) {
  // x -> a; the column sums of a need all of a; c needs a and those sums.
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand a = maker.op(Op::exp, {x});
  const Operand columns = maker.reduce(ReduceKind::sum, a, {0});
  const Operand top = maker.reduce(ReduceKind::max, columns, {0});
  maker.output(maker.op(Op::mul, {a, expanded(top, {4, 6})}));
  const Plan plan = plan_of(maker.graph);
  EXPECT_EQ(plan.groups.size(), 3u) << to_string(plan);
  EXPECT_NE(reasons(plan).find("another kernel has to run between them"), std::string::npos)
      << to_string(plan);
  expect_reference_values(maker.graph, plan);
}

// --- limits of one kernel ---

// A launch has room for a limited number of addresses and strides.
TEST(UnfusedTest, AKernelHasNoMoreAccessesThanItMay) {
  constexpr std::int64_t kLarge = 1 << 16;  // worth a kernel of its own
  GraphMaker maker;
  Operand sum = maker.input({kLarge});
  for (int i = 1; i < 40; ++i) sum = maker.op(Op::add, {sum, maker.input({kLarge})});
  const Operand first = maker.input({kLarge});
  for (int i = 0; i < 20; ++i)
    maker.output(maker.op(Op::mul, {first, maker.number(2 + i, Shape{kLarge})}));
  maker.output(sum);
  EXPECT_EQ(plan_of(maker.graph).groups.size(), 2u);
  FusionOptions narrow;
  narrow.most_accesses = 16;
  const Plan plan = plan_of(maker.graph, narrow);
  for (const FusionGroup& group : plan.groups) {
    std::set<NodeId> read;
    for (NodeId id : group.nodes)
      for (const Operand& operand : plan.graph[id].operands)
        if (std::find(group.nodes.begin(), group.nodes.end(), operand.node) == group.nodes.end() &&
            plan.graph[operand.node].op != Op::constant)
          read.insert(operand.node);
    EXPECT_LE(read.size() + group.outputs.size(), 16u) << to_string(plan);
  }
  EXPECT_LE(plan.groups.size(), 3u + 2u) << to_string(plan);
  EXPECT_EQ(reasons(plan).find("one kernel would have more than 16 reads and writes"), 0u)
      << reasons(plan);
  expect_reference_values(maker.graph, plan, 1e-4);
}

TEST(UnfusedTest, OneThatReadsTheSameOftenIsNotTooWide) {
  GraphMaker maker;
  const Operand x = maker.input({64});
  Operand value = x;
  for (int i = 0; i < 40; ++i) value = maker.op(i % 2 ? Op::mul : Op::sub, {value, x});
  maker.output(value);
  FusionOptions narrow;
  narrow.most_accesses = 16;
  EXPECT_EQ(plan_of(maker.graph, narrow).groups.size(), 1u);
}

TEST(UnfusedTest, ReductionsOfOnePassAreLimited) {
  GraphMaker maker;
  const Operand x = maker.input({4, 16});
  for (int i = 0; i < 40; ++i)
    maker.output(
        maker.reduce(ReduceKind::sum, maker.op(Op::mul, {x, maker.number(i + 0.5, {4, 16})}), {1}));
  FusionOptions options;
  options.most_reductions = 16;
  const Plan plan = plan_of(maker.graph, options);
  ASSERT_EQ(plan.groups.size(), 3u) << to_string(plan);
  for (const FusionGroup& group : plan.groups) EXPECT_LE(group.outputs.size(), 16u);
  expect_reference_values(maker.graph, plan, 1e-4);
}

TEST(UnfusedTest, ReductionsOneAfterTheOtherAreNot) {
  GraphMaker maker;
  Operand x = maker.input({4, 16});
  for (int i = 0; i < 40; ++i)
    x = maker.op(Op::sub, {x, along_rows(maker.reduce(ReduceKind::max, x, {1}), 16)});
  maker.output(x);
  FusionOptions options;
  options.most_reductions = 16;
  EXPECT_EQ(plan_of(maker.graph, options).groups.size(), 1u);
}

TEST(UnfusedTest, LongProgramsAreCutAndSayWhy) {
  GraphMaker maker;
  const Operand x = maker.input({64});
  Operand value = x;
  for (int i = 0; i < 100; ++i) value = maker.op(i % 2 ? Op::mul : Op::sub, {value, x});
  maker.output(value);
  FusionOptions options;
  options.most_nodes = 30;
  const Plan plan = plan_of(maker.graph, options);
  EXPECT_EQ(plan.groups.size(), 4u) << to_string(plan);
  EXPECT_EQ(reasons(plan).find("one kernel would have more than 30 operations"), 0u)
      << reasons(plan);
  options.most_nodes = 1000;
  options.most_work = 50;
  EXPECT_EQ(plan_of(maker.graph, options).groups.size(), 2u);
  expect_reference_values(maker.graph, plan, 1e-4);
}

}  // namespace
}  // namespace sinter
