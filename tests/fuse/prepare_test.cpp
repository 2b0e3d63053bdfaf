// Reductions with few results are split so that many workers share them; values stay the same.
#include "src/fuse/prepare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/fuse/plan.h"
#include "src/graph/simplify.h"
#include "tests/support/graph_maker.h"
#include "tests/support/graph_reference.h"
#include "tests/support/online_programs.h"
#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing_support::evaluate;
using testing_support::expect_close;
using testing_support::GraphMaker;
using testing_support::Numbers;
using testing_support::random_inputs;
using testing_support::run_plan;
using testing_support::trace_graph;

constexpr std::int64_t kMany = 1 << 17;  // enough elements for split_reductions()

std::vector<Node> reductions_of(const Graph& graph) {
  std::vector<Node> found;
  for (const Node& node : graph.nodes)
    if (node.op == Op::reduce) found.push_back(node);
  return found;
}

Graph reduction(ReduceKind kind, const Shape& shape, std::initializer_list<int> axes,
                DType dtype = DType::f32) {
  GraphMaker maker;
  maker.output(maker.reduce(kind, maker.input(shape, dtype), axes));
  return maker.graph;
}

FusionOptions workers(int parallelism) {
  FusionOptions options;
  options.parallelism = parallelism;
  return options;
}

void expect_split_has_the_same_value(const Graph& graph, int parallelism,
                                     std::vector<Numbers> inputs) {
  const Graph split = split_reductions(graph, workers(parallelism));
  verify(split);
  EXPECT_GT(reductions_of(split).size(), reductions_of(graph).size()) << "was not split";
  expect_close(evaluate(split, inputs), evaluate(graph, inputs), 1e-9);
}

TEST(SplitReductionsTest, ATotalBecomesPartsAndTheirTotal) {
  const Graph split = split_reductions(reduction(ReduceKind::sum, {kMany}, {0}), workers(4));
  const auto found = reductions_of(split);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].operands[0].view.shape, Shape({64, kMany / 64})) << "16 parts a worker";
  EXPECT_EQ(found[0].shape, Shape({64}));
  EXPECT_EQ(found[1].shape, Shape());
}

TEST(SplitReductionsTest, EnoughResultsStayAsTheyAre) {
  for (const Shape& shape : {Shape{4096, 64}, Shape{8, 32768}}) {
    const Graph graph = reduction(ReduceKind::sum, shape, {1});
    EXPECT_EQ(to_string(split_reductions(graph, workers(4))), to_string(graph)) << to_string(shape);
  }
  const Graph columns = reduction(ReduceKind::sum, {64, 8192}, {0});
  EXPECT_EQ(to_string(split_reductions(columns, workers(4))), to_string(columns));
}

TEST(SplitReductionsTest, LittleWorkStaysAsItIs) {
  const Graph graph = reduction(ReduceKind::sum, {kMany - 1}, {0});
  EXPECT_EQ(to_string(split_reductions(graph, workers(4))), to_string(graph));
}

TEST(SplitReductionsTest, OneWorkerNeedsNoParts) {
  const Graph graph = reduction(ReduceKind::sum, {2, kMany}, {1});
  EXPECT_EQ(to_string(split_reductions(graph, workers(1))), to_string(graph));
}

TEST(SplitReductionsTest, ValuesStay) {
  struct Case {
    ReduceKind kind;
    Shape shape;
    std::initializer_list<int> axes;
    DType dtype;
  };
  const Case cases[] = {
      {ReduceKind::sum, {kMany}, {0}, DType::f32},
      {ReduceKind::sum, {131101}, {0}, DType::f32},  // a prime: leaves a tail
      {ReduceKind::prod, {131101}, {0}, DType::f64},
      {ReduceKind::max, {131101}, {0}, DType::f32},
      {ReduceKind::min, {131101}, {0}, DType::i32},
      {ReduceKind::sum, {3, 65536}, {1}, DType::f32},
      {ReduceKind::sum, {65536, 3}, {0}, DType::f32},
      {ReduceKind::sum, {65537, 5}, {0}, DType::i64},
      {ReduceKind::sum, {16384, 3, 8}, {0, 2}, DType::f32},
      {ReduceKind::max, {16, 512, 16}, {0, 1, 2}, DType::f32},
      {ReduceKind::argmax, {kMany}, {0}, DType::f32},
      {ReduceKind::argmin, {3, 65536}, {1}, DType::f32},
      {ReduceKind::argmax, {65536, 3}, {0}, DType::i64},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(name_of(c.kind)) + to_string(c.shape));
    const Graph graph = reduction(c.kind, c.shape, c.axes, c.dtype);
    auto inputs = random_inputs(graph, 5);
    if (c.kind == ReduceKind::prod)
      for (double& x : inputs[0]) x = 1 + x * 1e-6;
    expect_split_has_the_same_value(graph, 4, inputs);
  }
}

TEST(SplitReductionsTest, ArgmaxTakesTheFirstOfTies) {
  const Graph graph = reduction(ReduceKind::argmax, {kMany}, {0});
  Numbers values(kMany, 1.0);
  expect_split_has_the_same_value(graph, 4, {values});
  values[100000] = values[5] = 2;
  expect_split_has_the_same_value(graph, 4, {values});
}

TEST(SplitReductionsTest, ArgmaxFindsTheFirstNan) {
  const Graph graph = reduction(ReduceKind::argmax, {kMany}, {0});
  Numbers values(kMany, 1.0);
  values[3] = std::numeric_limits<double>::infinity();
  values[90000] = values[70000] = std::nan("");
  EXPECT_EQ(evaluate(graph, {values})[0][0], 70000);
  expect_split_has_the_same_value(graph, 4, {values});
}

TEST(SplitReductionsTest, SixteenBitPartsAreKeptInF32) {
  const Graph graph = reduction(ReduceKind::sum, {131101}, {0}, DType::f16);
  for (bool fuse : {true, false}) {
    const Plan plan = make_plan(graph, {fuse, 4});
    EXPECT_EQ(reductions_of(plan.graph).size(), fuse ? 2u : 3u) << "unfused, parts leave a rest";
    const NodeId result = plan.graph.outputs[0].node;
    EXPECT_EQ(plan.graph[result].dtype, DType::f16);
    for (const FusionGroup& group : plan.groups)
      for (NodeId id : group.outputs)
        EXPECT_EQ(plan.graph[id].dtype, id == result ? DType::f16 : DType::f32);
    const auto inputs = random_inputs(graph, 5);
    expect_close(run_plan(plan, inputs), evaluate(graph, inputs), 1e-3);  // one rounding to f16
  }
}

// Intermediate values between kernels are not tensors of the program, so they are not rounded.
TEST(SplitReductionsTest, RowValuesOfSixteenBitsStayInF32) {
  const Graph graph = trace_graph({{Shape{3, 65536}, DType::bf16}}, [](const auto& in) {
    Tensor x = in[0];
    for (int i = 0; i < 3; ++i) x = x * sum(x, 1, true);
    return std::vector<Tensor>{x};
  });
  const Plan plan = make_plan(simplify(graph), {true, 4});
  ASSERT_GT(plan.groups.size(), 1u);
  const NodeId result = plan.graph.outputs[0].node;
  for (const FusionGroup& group : plan.groups)
    for (NodeId id : group.outputs)
      EXPECT_EQ(plan.graph[id].dtype, id == result ? DType::bf16 : DType::f32) << to_string(plan);
}

TEST(SplitReductionsTest, AnExplicitCastStillRounds) {
  const Graph graph = trace_graph({{Shape{3, 65536}, DType::f32}}, [](const auto& in) {
    const Tensor total = cast(sum(in[0], 1, true), DType::bf16);
    return std::vector<Tensor>{in[0] + cast(total, DType::f32)};
  });
  const Plan plan = make_plan(simplify(graph), {true, 4});
  ASSERT_GT(plan.groups.size(), 1u);
  const Numbers values(3 * 65536, 1 + 0x1p-9);
  EXPECT_EQ(run_plan(plan, {values})[0][0], 65537) << "the total of 65664 has 8 bits";
}

TEST(SplitReductionsTest, ProducersOfASplitReductionStillFuse) {
  const Graph graph = trace_graph({Shape{1 << 20}, Shape{1 << 20}}, [](const auto& in) {
    return std::vector<Tensor>{mean(square(in[0] - in[1]))};
  });
  const Plan plan = make_plan(simplify(graph), {true, 4});
  verify(plan);
  EXPECT_EQ(plan.groups.size(), 2u)
      << "the parts with their differences, the total: " << to_string(plan);
  for (const FusionGroup& group : plan.groups) EXPECT_LT(group.bytes_written, 1 << 16);
}

// Intermediate tensors are not stored: the partial reductions recompute cheap ones.
TEST(SplitReductionsTest, PartsRecomputeCheapOperands) {
  const auto plan_of = [](const FusionOptions& options) {
    const Graph graph = trace_graph({{Shape{3, 300000}, DType::bf16}}, [](const auto& in) {
      return std::vector<Tensor>{softmax(in[0], 1)};
    });
    return make_plan(simplify(graph), options);
  };
  const Machine gpu{.kind = MachineKind::gpu, .multiprocessors = 132, .largest_cluster = 8};
  const Plan plan = plan_of(fusion_options(true, 132, gpu));
  EXPECT_EQ(plan.groups.size(), 3u) << "parts, totals, the result:\n" << to_string(plan);
  std::int64_t written = 0;
  for (const FusionGroup& group : plan.groups) written += group.bytes_written;
  EXPECT_LT(written, 3 * 300000 * 2 + 10000);
  FusionOptions costly = fusion_options(true, 132, gpu);
  costly.repeated_cost = 0;
  EXPECT_GT(plan_of(costly).groups.size(), 3u);
}

// Each part has its own maximum; rows and parts with infinities and NaNs keep their values.
TEST(SplitReductionsTest, SumsOfExponentialsComeWithTheirMaximum) {
  for (std::int64_t cols : {32768, 32003})
    for (const auto& program : testing_support::online_programs(11, cols, DType::f32)) {
      SCOPED_TRACE(program.name);
      FusionOptions options = workers(16);
      options.repeated_cost = 64;
      const Plan plan = make_plan(simplify(program.graph), options);
      EXPECT_GT(reductions_of(plan.graph).size(), reductions_of(program.graph).size());
      const Numbers values = testing_support::hard_rows(11, cols, DType::f32);
      const int tail = cols == 32768 ? 0 : 1;
      EXPECT_LE(static_cast<int>(plan.groups.size()), (2 + tail) * program.passes + 1)
          << to_string(plan);
      expect_close(run_plan(plan, {values}), evaluate(program.graph, {values}), 1e-5);
      if (HasFailure()) return;
    }
}

TEST(SplitReductionsTest, ExponentialsThatAreDearAreComputedOnce) {
  const Graph graph = testing_support::online_programs(1, 1 << 20, DType::f32)[0].graph;
  const auto exponentials = [&](int repeated_cost) {
    FusionOptions options = workers(16);
    options.repeated_cost = repeated_cost;
    int count = 0;
    for (const Node& node : split_reductions(graph, options).nodes) count += node.op == Op::exp;
    return count;
  };
  EXPECT_EQ(exponentials(kHeavyCost), 1) << "a CPU keeps it";
  EXPECT_EQ(exponentials(64), 3) << "of the parts, of their totals, of the result";
}

// The (rows, parts, elements of a part) of a sum along rows.
Shape parts_of_rows(std::int64_t rows, std::int64_t length, int parallelism) {
  const Graph graph = reduction(ReduceKind::sum, {rows, length}, {1});
  const Graph split = split_reductions(graph, workers(parallelism));
  return reductions_of(split)[0].operands[0].view.shape;
}

TEST(SplitReductionsTest, PartsAreEqualAndEvenWhereTheyCanBe) {
  EXPECT_EQ(parts_of_rows(3, 300000, 132), Shape({3, 125, 2400})) << "16 divides the size";
  EXPECT_EQ(parts_of_rows(1, 1 << 20, 132), Shape({1, 512, 2048}));
}

TEST(SplitReductionsTest, OtherPartsOverlapALittle) {
  for (const std::int64_t length : {131101, 300000, 1000003, 50331653, 262145}) {
    for (int parallelism : {4, 132}) {
      const Shape parts = parts_of_rows(1, length, parallelism);
      EXPECT_GE(parts[1] * parts[2], length);
      EXPECT_LE(parts[1] * parts[2], length + length / 16) << length << ": " << to_string(parts);
    }
  }
}

// What is counted is decided in the kernel of the parts.
TEST(SplitReductionsTest, OverlappingPartsTakeTwoKernels) {
  const auto kernels = [](ReduceKind kind, DType dtype) {
    const Plan plan = make_plan(reduction(kind, {1000003}, {0}, dtype), workers(132));
    return plan.groups.size();
  };
  for (const ReduceKind kind :
       {ReduceKind::sum, ReduceKind::prod, ReduceKind::max, ReduceKind::min})
    for (const DType dtype : {DType::f32, DType::bf16, DType::i32})
      EXPECT_EQ(kernels(kind, dtype), 2u) << name_of(kind) << " " << name_of(dtype);
  EXPECT_EQ(kernels(ReduceKind::argmax, DType::f32), 2u);
}

TEST(SplitReductionsTest, TheOutermostAxisThatIsLongEnoughIsCut) {
  const auto parts = [](const Shape& shape) {
    FusionOptions options = workers(132);
    const Graph graph = reduction(ReduceKind::sum, shape, {0, 1, 2});
    return reductions_of(split_reductions(graph, options))[0].operands[0].view.shape;
  };
  EXPECT_EQ(parts({4096, 8, 577}), Shape({2048, 2, 8, 577}));
  EXPECT_EQ(parts({32, 256, 3136}), Shape({32, 256, 1, 3136})) << "32 parts would be too few";
}

// --- totals of rows
// -------------------------------------------------------------------------------

// A loss: the total needs the maximum of every row.
Graph total_below_maxima(const Shape& shape) {
  GraphMaker maker;
  const Operand x = maker.input(shape);
  Operand top = maker.reduce(ReduceKind::max, x, {1});
  top.view = row_broadcast(shape, 2);
  maker.output(maker.reduce(ReduceKind::sum, maker.op(Op::sub, {x, top}), {0, 1}));
  return maker.graph;
}

TEST(TotalsTest, ATotalFollowsTheRowsItDependsOn) {
  const Graph graph = total_below_maxima({300, 1000});
  const Plan plan = make_plan(graph, workers(16));
  ASSERT_EQ(plan.groups.size(), 2u) << to_string(plan);
  EXPECT_EQ(plan.groups[0].nodes.size(), 3u) << "the maximum, the difference, each row's sum";
  const auto inputs = random_inputs(graph, 5);
  expect_close(run_plan(plan, inputs), evaluate(graph, inputs), 1e-6);
}

TEST(TotalsTest, ATotalFollowsRowsOfTheSameTensor) {
  GraphMaker maker;
  const Operand x = maker.input({300, 1000});
  maker.output(maker.reduce(ReduceKind::max, x, {1}));
  maker.output(maker.reduce(ReduceKind::prod, maker.op(Op::exp, {x}), {0, 1}));
  EXPECT_EQ(make_plan(maker.graph, workers(16)).groups.size(), 2u);
}

TEST(TotalsTest, OtherTotalsStayAsTheyAre) {
  GraphMaker maker;
  const Operand x = maker.input({30, 100});
  const Operand y = maker.input({30, 100});
  maker.output(maker.reduce(ReduceKind::max, x, {1}));
  maker.output(maker.reduce(ReduceKind::sum, y, {0, 1}));
  maker.output(maker.reduce(ReduceKind::argmax, x, {0, 1}));
  EXPECT_EQ(to_string(totals_of_rows(maker.graph)), to_string(maker.graph));
}

TEST(MaterializeLeavesTest, ResultsThatAreLeavesAreCopied) {
  GraphMaker maker;
  const Operand x = maker.input({4});
  maker.output(x);
  maker.output(maker.number(3, {4}));
  const Graph ready = materialize_leaves(maker.graph);
  verify(ready);
  EXPECT_EQ(ready[ready.outputs[0].node].op, Op::input);
  EXPECT_EQ(ready[ready.outputs[1].node].op, Op::copy);
}

// --- GPUs: workers share a row ------------------------------------------------------------------

FusionOptions workers_with_rows(int parallelism, std::int64_t whole_row) {
  FusionOptions options = workers(parallelism);
  options.whole_row = whole_row;
  return options;
}

TEST(SplitReductionsTest, RowsUpToWholeRowAreNotSplit) {
  const Graph rows = reduction(ReduceKind::sum, {4, kMany}, {1});
  EXPECT_EQ(reductions_of(split_reductions(rows, workers_with_rows(132, kMany))).size(), 1u);
  EXPECT_EQ(reductions_of(split_reductions(rows, workers_with_rows(132, kMany - 1))).size(), 2u);
  EXPECT_EQ(reductions_of(split_reductions(rows, workers(132))).size(), 2u) << "as on a CPU";
}

TEST(SplitReductionsTest, WholeRowCountsAllReducedAxes) {
  const Graph planes = reduction(ReduceKind::sum, {4, 512, kMany / 512}, {1, 2});
  EXPECT_EQ(reductions_of(split_reductions(planes, workers_with_rows(132, kMany))).size(), 1u);
  EXPECT_EQ(reductions_of(split_reductions(planes, workers_with_rows(132, kMany - 1))).size(), 2u);
}

TEST(SplitReductionsTest, ColumnsAreSplitWhateverWholeRowIs) {
  const Graph columns = reduction(ReduceKind::sum, {kMany, 4}, {0});
  EXPECT_EQ(reductions_of(split_reductions(columns, workers_with_rows(132, 1 << 20))).size(), 2u);
}

TEST(SplitReductionsTest, AMachinesOptionsFollowWhatHoldsARow) {
  Machine gpu{.kind = MachineKind::gpu, .multiprocessors = 132, .largest_cluster = 8};
  const FusionOptions clustered = fusion_options(true, 132, gpu);
  gpu.largest_cluster = 1;
  const FusionOptions blocks = fusion_options(true, 132, gpu);
  EXPECT_GT(clustered.whole_row, blocks.whole_row);
  EXPECT_GT(blocks.whole_row, 0);
  EXPECT_EQ(fusion_options(true, 8, Machine{}).whole_row, 0) << "a CPU's workers share no rows";
  EXPECT_FALSE(fusion_options(false, 8, gpu).fuse);
}

TEST(SplitReductionsTest, ASoftmaxOfFewLongRowsStaysOneGroup) {
  const Graph graph = trace_graph(
      {Shape{128, 65536}}, [](const std::vector<Tensor>& x) { return std::vector{softmax(x[0])}; });
  const FusionOptions options = fusion_options(
      true, 132, {.kind = MachineKind::gpu, .multiprocessors = 132, .largest_cluster = 8});
  EXPECT_EQ(make_plan(simplify(graph), options).groups.size(), 1u);
}

}  // namespace
}  // namespace sinter
