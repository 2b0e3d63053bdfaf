// The planner's decisions: which nodes share a kernel, where values are stored, and the costs.
// unfused_test.cpp has what it refuses to fuse.
#include <gtest/gtest.h>
#include <sinter/error.h>

#include <utility>

#include "tests/fuse/plan_checks.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"
#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing_support::expanded;
using testing_support::expect_reference_values;
using testing_support::GraphMaker;
using testing_support::InputSpec;
using testing_support::plan_of;
using testing_support::random_graph;
using testing_support::sliced;
using testing_support::trace_graph;
using testing_support::transposed;
using Tensors = std::vector<Tensor>;

// --- the suite's memory-bound programs ---

struct SuiteCase {
  const char* name;
  std::vector<InputSpec> inputs;
  Tensors (*program)(const Tensors&);
  std::int64_t bytes;  // every input and result counted once
};

void PrintTo(const SuiteCase& c, std::ostream* out) { *out << c.name; }

constexpr std::int64_t kRows = 48;
constexpr std::int64_t kCols = 80;
constexpr std::int64_t kFull = kRows * kCols * 4;  // bytes
constexpr std::int64_t kRowBytes = kRows * 4;
const Shape kShape{kRows, kCols};
const View kStoredTransposed{kShape, {1, kRows}, 0};

Tensor gelu_of(const Tensor& x) {
  return x * 0.5 * (1.0 + tanh(0.79788456 * x * (1.0 + 0.044715 * x * x)));
}
// The mask is an input here; a random generator would be pointwise too.
Tensor dropout_of(const Tensor& x, const Tensor& keep) { return where(keep, x / 0.9, 0.0); }

const SuiteCase kSuite[] = {
    {"pointwise_chain",
     {kShape},
     [](const Tensors& in) {
       Tensor x = in[0];
       Tensor y = cos(x);
       x = x * y;
       y = maximum(x, y);
       return Tensors{x + y};
     },
     2 * kFull},
    {"softmax", {kShape}, [](const Tensors& in) { return Tensors{softmax(in[0], 1)}; }, 2 * kFull},
    {"double_softmax",
     {kShape},
     [](const Tensors& in) { return Tensors{softmax(softmax(in[0], 1), 1)}; },
     2 * kFull},
    {"softmax_backward",
     {kShape, kShape},
     [](const Tensors& in) { return Tensors{(in[0] - sum(in[0] * in[1], 1, true)) * in[1]}; },
     3 * kFull},
    {"layernorm",
     {kShape, Shape{kCols}, Shape{kCols}},
     [](const Tensors& in) { return Tensors{layer_norm(in[0], in[1], in[2])}; },
     2 * kFull + 2 * kCols * 4},
    {"norm_chain",
     {kShape},
     [](const Tensors& in) {
       Tensor x = in[0];
       for (int i = 0; i < 3; ++i) x = x * sum(x, 1, true);
       return Tensors{x};
     },
     2 * kFull},
    {"h_red_pw",
     {kShape},
     [](const Tensors& in) {
       return Tensors{sum(in[0], 1), cos(in[0])};
     },
     2 * kFull + kRowBytes},
    {"h_red_red",
     {kShape},
     [](const Tensors& in) {
       return Tensors{sum(in[0], 1), max(in[0], 1)};
     },
     kFull + 2 * kRowBytes},
    {"bias_gelu",
     {kShape, Shape{kCols}},
     [](const Tensors& in) { return Tensors{gelu_of(in[0] + in[1])}; },
     2 * kFull + kCols * 4},
    {"bias_dropout_add",
     {kShape, kShape, kShape, {kShape, DType::boolean}},
     [](const Tensors& in) { return Tensors{in[2] + dropout_of(in[0] + in[1], in[3])}; },
     4 * kFull + kRows* kCols},
    {"bias_dropout_add_t",
     {kShape, kStoredTransposed, kStoredTransposed, {kShape, DType::boolean}},
     [](const Tensors& in) { return Tensors{in[2] + dropout_of(in[0] + in[1], in[3])}; },
     4 * kFull + kRows* kCols},
};

class SuiteFusionTest : public testing::TestWithParam<SuiteCase> {};

TEST_P(SuiteFusionTest, IsOneKernelThatMovesEachTensorOnce) {
  const Graph graph = trace_graph(GetParam().inputs, GetParam().program);
  const Plan plan = plan_of(graph);
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  EXPECT_TRUE(plan.unfused.empty()) << to_string(plan);
  EXPECT_EQ(plan.groups[0].bytes(), GetParam().bytes);
  expect_reference_values(graph, plan, 1e-4);
}

TEST_P(SuiteFusionTest, IsAKernelANodeWithFusionOff) {
  const Graph graph = trace_graph(GetParam().inputs, GetParam().program);
  const Plan plan = plan_of(graph, {.fuse = false});
  for (const FusionGroup& group : plan.groups) EXPECT_EQ(group.nodes.size(), 1u);
  std::size_t computing = 0;
  for (const Node& node : plan.graph.nodes)
    computing += is_pointwise(node.op) || node.op == Op::reduce ? 1 : 0;
  EXPECT_EQ(plan.groups.size(), computing);
  for (const UnfusedEdge& edge : plan.unfused) EXPECT_EQ(edge.reason, "fusion is off");
  expect_reference_values(graph, plan, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(PlannerTest, SuiteFusionTest, testing::ValuesIn(kSuite),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(PlannerTest, KeepdimResultsShareTheirReductionsKernel) {
  const Graph graph = trace_graph({kShape}, [](const Tensors& in) {
    return Tensors{logsumexp(in[0], 1, true), mean(in[0], 1, true)};
  });
  const Plan plan = plan_of(graph);
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  expect_reference_values(graph, plan);
}

// --- horizontal fusion ---

TEST(PlannerTest, ReadersOfOneInputShareAKernel) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  maker.output(maker.op(Op::exp, {x}));
  maker.output(maker.op(Op::sin, {x}));
  maker.output(maker.reduce(ReduceKind::max, x, {1}));
  const Plan plan = plan_of(maker.graph);
  ASSERT_EQ(plan.groups.size(), 1u) << to_string(plan);
  EXPECT_EQ(plan.groups[0].outputs.size(), 3u);
  EXPECT_EQ(plan.groups[0].axes, (GroupAxes{{4, false}, {6, true}}));
  expect_reference_values(maker.graph, plan);
}

Graph two_exponentials(const Shape& first, const Shape& second) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input(first)}));
  maker.output(maker.op(Op::exp, {maker.input(second)}));
  return maker.graph;
}

TEST(PlannerTest, ProgramsWithoutCommonDataStayApart) {
  EXPECT_EQ(plan_of(two_exponentials({256, 256}, {256, 256})).groups.size(), 2u);
  EXPECT_EQ(plan_of(two_exponentials({4, 6}, {6, 4})).groups.size(), 2u) << "other axes";
}

TEST(PlannerTest, SmallProgramsShareALaunch) {
  const Graph graph = two_exponentials({4, 6}, {4, 6});
  const Plan plan = plan_of(graph);
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  expect_reference_values(graph, plan);
}

// Two sums of columns, with a sum of rows between them.
TEST(PlannerTest, SmallKernelsWithAnotherBetweenThemStayApart) {
  GraphMaker maker;
  const Shape shape{8, 8};
  const auto times = [&](Operand sum, std::uint32_t axes) {
    sum.view = row_broadcast(shape, axes);
    return maker.op(Op::mul, {maker.input(shape), sum});
  };
  const Operand columns = maker.reduce(ReduceKind::sum, maker.input(shape), {0});
  const Operand rows = maker.reduce(ReduceKind::sum, times(columns, 1), {1});
  maker.output(maker.reduce(ReduceKind::sum, times(rows, 2), {0}));
  const Plan plan = plan_of(maker.graph);
  EXPECT_EQ(plan.groups.size(), 3u) << to_string(plan);
  expect_reference_values(maker.graph, plan);
}

TEST(PlannerTest, AConstantIsNoCommonData) {
  GraphMaker maker;
  const Operand x = maker.input({256, 256});
  const Operand y = maker.input({256, 256});
  const Operand two = maker.number(2, {256, 256});
  maker.output(maker.op(Op::mul, {x, two}));
  maker.output(maker.op(Op::mul, {y, two}));
  EXPECT_EQ(plan_of(maker.graph).groups.size(), 2u);
}

// --- concat ---

TEST(PlannerTest, ConcatOperandsAreComputedInPlace) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand a = maker.op(Op::exp, {x});
  const Operand b = maker.op(Op::sin, {x});
  const Operand joined = maker.concat({a, b}, 1);
  maker.output(joined);
  const Plan plan = plan_of(maker.graph);
  ASSERT_EQ(plan.groups.size(), 1u) << to_string(plan);
  const NodeId buffer = plan.graph.outputs[0].node;
  int placed = 0;
  for (NodeId id : plan.groups[0].outputs) {
    const Placement& placement = plan.placements[id];
    EXPECT_EQ(placement.buffer, buffer);
    EXPECT_EQ(placement.view.strides, Strides({12, 1}));
    placed += static_cast<int>(placement.view.offset);
  }
  EXPECT_EQ(placed, 0 + 6);
  EXPECT_EQ(plan.groups[0].bytes(), (24 + 48) * 4);
  expect_reference_values(maker.graph, plan);
}

TEST(PlannerTest, PartsOfAConcatThatHaveKernelsOfTheirOwnAreUnfused) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand y = maker.input({4, 2});
  const Operand joined = maker.concat({maker.op(Op::exp, {x}), maker.op(Op::sin, {y})}, 1);
  maker.output(maker.op(Op::tanh, {joined}));
  const Plan plan = plan_of(maker.graph);
  ASSERT_EQ(plan.groups.size(), 3u) << to_string(plan);
  ASSERT_EQ(plan.unfused.size(), 2u) << to_string(plan);
  EXPECT_EQ(plan.graph[plan.unfused[0].consumer].op, Op::concat);
  EXPECT_EQ(plan.unfused[0].reason, "they walk different shapes: (4, 6) and (4, 2)");
  EXPECT_EQ(plan.unfused[0].bytes, 0) << "nothing is read back";
  EXPECT_EQ(plan.graph[plan.unfused[1].producer].op, Op::concat);
  EXPECT_EQ(plan.unfused[1].reason, "a concat's parts are stored before it is read");
  EXPECT_EQ(plan.unfused[1].bytes, 2 * 4 * 8 * 4) << "written once, read once";
}

TEST(PlannerTest, ConcatPartsThatCannotBePlacedAreCopied) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand a = maker.op(Op::exp, {x});
  maker.output(maker.concat({x, a, a}, 0));  // an input, and a value used twice
  maker.output(a);
  const Plan plan = plan_of(maker.graph);
  int copies = 0;
  for (const Node& node : plan.graph.nodes) copies += node.op == Op::copy ? 1 : 0;
  EXPECT_EQ(copies, 3) << to_string(plan.graph);
  EXPECT_EQ(plan.groups.size(), 1u) << "the copies ride along: " << to_string(plan);
  expect_reference_values(maker.graph, plan);
}

TEST(PlannerTest, AConcatCanBeReadOn) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand y = maker.input({3, 6});
  const Operand joined = maker.concat({maker.op(Op::exp, {x}), maker.op(Op::neg, {y})}, 0);
  maker.output(maker.reduce(ReduceKind::sum, transposed(joined), {1}));
  maker.output(maker.concat({joined, x}, 0));
  expect_reference_values(maker.graph, plan_of(maker.graph));
}

TEST(PlannerTest, StackedResultsAreComputedInPlace) {
  const Graph graph = trace_graph({kShape}, [](const Tensors& in) {
    return Tensors{stack({exp(in[0]), sin(in[0])}, 1)};
  });
  const Plan plan = plan_of(graph);
  for (const Node& node : plan.graph.nodes) EXPECT_NE(node.op, Op::copy) << to_string(plan.graph);
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  expect_reference_values(graph, plan);
}

// --- leaves as results ---

TEST(PlannerTest, ConstantsRangesAndInputsCanBeResults) {
  GraphMaker maker;
  const Operand x = maker.input({3, 4});
  maker.output(maker.number(2.5, {3, 2}));
  maker.output(
      maker.range(5, Scalar::of(std::int64_t{3}), Scalar::of(std::int64_t{-2}), DType::i64));
  maker.output(transposed(x));
  const Plan plan = plan_of(maker.graph);
  EXPECT_EQ(plan.groups.size(), 2u) << "an input is returned as it is: " << to_string(plan);
  expect_reference_values(maker.graph, plan);
}

TEST(PlannerTest, RandomGraphsKeepTheirMeaning) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed);
    const Plan fused = plan_of(graph);
    const Plan apart = plan_of(graph, {.fuse = false});
    EXPECT_LE(fused.groups.size(), apart.groups.size());
    expect_reference_values(graph, fused, 1e-4);
    expect_reference_values(graph, apart, 1e-4);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// --- costs ---

TEST(PlannerTest, BytesCountBroadcastDataOnceAndResultsWhole) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6}, DType::f16);
  const Operand bias = maker.input({6}, DType::f16);
  maker.output(maker.op(Op::add, {x, expanded(bias, {4, 6})}));
  const FusionGroup group = plan_of(maker.graph).groups[0];
  EXPECT_EQ(group.bytes_read, (24 + 6) * 2);
  EXPECT_EQ(group.bytes_written, 24 * 2);
  EXPECT_EQ(group.flops, 24);
}

TEST(PlannerTest, BytesCountTheUnionOfAnInputsViews) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  maker.output(maker.op(Op::mul, {sliced(x, 1, 0, 3), sliced(x, 1, 3, 3)}));  // halves
  EXPECT_EQ(plan_of(maker.graph).groups[0].bytes_read, 24 * 4);

  GraphMaker square;
  const Operand s = square.input({5, 5});
  square.output(square.op(Op::add, {s, transposed(s)}));
  EXPECT_EQ(plan_of(square.graph).groups[0].bytes_read, 25 * 4) << "the same elements twice";

  GraphMaker partly;
  const Operand p = partly.input({10});
  partly.output(partly.op(Op::sub, {sliced(p, 0, 1, 9), sliced(p, 0, 0, 9)}));  // differences
  EXPECT_EQ(plan_of(partly.graph).groups[0].bytes_read, 10 * 4);
}

TEST(PlannerTest, FlopsFollowTheOpTablesCosts) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  maker.output(maker.reduce(ReduceKind::sum, maker.op(Op::exp, {x}), {1}));
  EXPECT_EQ(plan_of(maker.graph).groups[0].flops, 24 * info(Op::exp).cost + 24);
}

// --- the text and the verifier ---

TEST(PlannerTest, PrintsGroupsAndRefusals) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand rows = maker.reduce(ReduceKind::sum, maker.op(Op::exp, {x}), {1});
  maker.output(maker.reduce(ReduceKind::max, rows, {0}));
  EXPECT_EQ(to_string(plan_of(maker.graph)),
            "group 0 over (4, 6) reducing axes 1, 112 bytes: %1 exp %2 sum\n"
            "group 1 over (4) reducing axes 0, 20 bytes: %3 max\n"
            "unfused %2 -> %3 (group 0 -> 1), 32 bytes: "
            "they reduce over different shapes: (4, 6) and (4)\n");
}

Plan two_groups() {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand rows = maker.reduce(ReduceKind::sum, x, {1});
  maker.output(maker.reduce(ReduceKind::max, rows, {0}));
  return plan_of(maker.graph);
}

TEST(VerifyPlanTest, RefusesGroupsInTheWrongOrder) {
  Plan plan = two_groups();
  std::swap(plan.groups[0], plan.groups[1]);
  EXPECT_THROW(verify(plan), InternalError);
}

TEST(VerifyPlanTest, RefusesNodesInTheWrongOrder) {
  GraphMaker maker;
  const Operand x = maker.input({4});
  maker.output(maker.op(Op::exp, {maker.op(Op::neg, {x})}));
  Plan plan = plan_of(maker.graph);
  std::swap(plan.groups[0].nodes[0], plan.groups[0].nodes[1]);
  EXPECT_THROW(verify(plan), InternalError);
}

TEST(VerifyPlanTest, RefusesAGroupWithoutNodesOrResults) {
  Plan plan = two_groups();
  plan.groups[1].outputs.clear();
  EXPECT_THROW(verify(plan), InternalError);
  plan = two_groups();
  plan.groups[0].nodes.clear();
  EXPECT_THROW(verify(plan), InternalError);
}

TEST(VerifyPlanTest, RefusesAResultWithoutAPlace) {
  Plan plan = two_groups();
  plan.placements[plan.groups[0].outputs[0]].buffer = -1;
  EXPECT_THROW(verify(plan), InternalError);
}

TEST(VerifyPlanTest, RefusesAMissingGroup) {
  Plan plan = two_groups();
  plan.groups.erase(0);
  EXPECT_THROW(verify(plan), InternalError);
}

TEST(VerifyPlanTest, RefusesReadingAConcatBeforeItsPartsAreComputed) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand joined = maker.concat({maker.op(Op::exp, {x}), maker.op(Op::neg, {x})}, 0);
  maker.output(maker.reduce(ReduceKind::sum, joined, {1}));
  Plan plan = plan_of(maker.graph);
  ASSERT_EQ(plan.groups.size(), 2u) << to_string(plan);
  std::swap(plan.groups[0], plan.groups[1]);
  EXPECT_THROW(verify(plan), InternalError);
}

TEST(PlannerTest, APlanCanReduceOneTensorOverDifferentAxesInOneGroup) {
  GraphMaker maker;
  const Operand x = maker.input({6, 8});
  const Operand e = maker.op(Op::exp, {x});
  const Operand rows = maker.reduce(ReduceKind::sum, e, {1});
  const Operand columns = maker.reduce(ReduceKind::sum, e, {0});
  maker.output(rows);
  maker.output(columns);
  Plan plan = make_plan(maker.graph, {});
  EXPECT_EQ(plan.groups.size(), 2u) << "no family computes both yet";
  // No planner makes this group: every node has its own axes in a space where both are reduced.
  FusionGroup both{.axes = {{6, true}, {8, true}}, .nodes = {e.node, rows.node, columns.node}};
  both.node_axes = {{{0, 1}, {0, 1}}, {{0, 1}, {0}}, {{0, 1}, {1}}};
  both.outputs = {rows.node, columns.node};
  plan.groups.clear();
  plan.groups.push_back(both);
  for (NodeId id : both.nodes) plan.group_of[id] = 0;
  EXPECT_NO_THROW(verify(plan));
  plan.groups[0].node_axes[1] = {{0, 1}, {1}};
  EXPECT_THROW(verify(plan), InternalError) << "six sums along an axis of eight";
}

}  // namespace
}  // namespace sinter
