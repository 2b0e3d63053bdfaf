// Lowering with GPU configs: values computed by the interpreter, and the facts only GPU kernels are
// specialized on: exact tiles, divisors of sizes and strides, 64-bit offsets, reused buffers.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "src/graph/simplify.h"
#include "src/lower/family.h"
#include "src/tile/dead_values.h"
#include "tests/support/graph_maker.h"
#include "tests/support/graph_reference.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::evaluate;
using testing_support::expanded;
using testing_support::expect_close;
using testing_support::GraphMaker;
using testing_support::Numbers;
using testing_support::random_inputs;
using testing_support::run_plan;
using testing_support::transposed;

const Machine kHopper{.kind = MachineKind::gpu,
                      .cache_bytes = 50 << 20,
                      .multiprocessors = 132,
                      .largest_cluster = 8};

Kernel lowered(const Graph& graph) {
  const Plan plan = make_plan(graph, {});
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  const IterationSpace space = iteration_space(plan, 0);
  Kernel kernel = lower(plan, 0, space, choose_config(space, kHopper));
  tile::verify(kernel.program());
  tile::verify_no_waste(kernel.program());
  return kernel;
}

int masked_accesses(const Kernel& kernel) {
  int count = 0;
  tile::for_each_instr(kernel.program().body, [&](const tile::Instr& instr) {
    if (instr.code == tile::Code::load) count += instr.args[1] != tile::kNoValue;
    if (instr.code == tile::Code::store) count += instr.args[2] != tile::kNoValue;
  });
  return count;
}

Graph softmax_of(GraphMaker maker, const Operand& x) {
  const std::int64_t columns = x.view.shape[1];
  const Operand top = maker.reduce(ReduceKind::max, x, {1});
  const Operand power = maker.op(Op::exp, {maker.op(Op::sub, {x, along_rows(top, columns)})});
  const Operand total = maker.reduce(ReduceKind::sum, power, {1});
  maker.output(maker.op(Op::div, {power, along_rows(total, columns)}));
  return maker.graph;
}

Graph softmax(const Shape& shape) {
  GraphMaker maker;
  const Operand x = maker.input(shape);
  return softmax_of(std::move(maker), x);
}

Graph exponential(const View& view) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input_view(view)}));
  return maker.graph;
}

void expect_every_config_right(const Graph& graph) {
  const std::vector<Numbers> inputs = random_inputs(graph, 7);
  const auto expected = evaluate(graph, inputs);
  const Plan plan = make_plan(simplify(graph), {});
  std::size_t most = 1;
  for (std::size_t i = 0; i < most; ++i) {
    std::string used;
    const auto actual = run_plan(plan, inputs, [&](const IterationSpace& space) {
      const auto configs = candidate_configs(space, kHopper, false);
      most = std::max(most, configs.size());
      const Config& config = configs[std::min(i, configs.size() - 1)];
      used += to_string(config) + "\n";
      return config;
    });
    expect_close(actual, expected, 1e-5, used);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(DeviceLowering, EveryConfigOfASoftmaxIsRight) {
  for (const Shape& shape : {Shape{37, 100}, Shape{5, 128}, Shape{3, 1001}})
    expect_every_config_right(softmax(shape));
}

TEST(DeviceLowering, EveryConfigOfATransposedSumIsRight) {
  GraphMaker maker;
  const Operand x = maker.input({40, 70});
  const Operand y = maker.input({70, 40});
  maker.output(maker.op(Op::add, {x, transposed(y)}));
  expect_every_config_right(maker.graph);

  GraphMaker far;  // strides so large that consecutive blocks go along the rows
  const Operand columns = far.input_view({{70, 40}, {32768, 1}, 0});
  far.output(far.op(Op::add, {far.input({40, 70}), transposed(columns)}));
  EXPECT_TRUE(tiling_of(lowered(far.graph).config).rows_first);
  expect_every_config_right(far.graph);
}

// A row that broadcasts one element: its tile has one column, but the sum counts every element.
TEST(DeviceLowering, ASumOverARepeatedElementCountsEachOfThem) {
  for (std::int64_t columns : {128, 100, 1024}) {
    GraphMaker maker;
    const Operand one = maker.input({6, 1});
    expect_every_config_right(softmax_of(maker, expanded(one, {6, columns})));
    GraphMaker total;
    const Operand x = total.input({6, 1});
    total.output(total.reduce(ReduceKind::sum, expanded(x, {6, columns}), {1}));
    expect_every_config_right(total.graph);
  }
}

TEST(DeviceLowering, TilesThatFitHaveNoMasks) {
  EXPECT_EQ(masked_accesses(lowered(softmax({65536, 128}))), 0);
  EXPECT_EQ(masked_accesses(lowered(softmax({4096, 4096}))), 0);
  EXPECT_EQ(masked_accesses(lowered(exponential({{1 << 20}, {1}, 0}))), 0);
  EXPECT_EQ(masked_accesses(lowered(softmax({65536, 120}))), 2) << "the load and the store";
  EXPECT_EQ(masked_accesses(lowered(softmax({65537, 128}))), 2) << "rows of the last tile";
}

TEST(DeviceLowering, OffsetsAre64BitsWideWhereTheyHaveTo) {
  EXPECT_FALSE(lowered(softmax({4096, 4096})).program().mapping.wide_index);
  EXPECT_TRUE(lowered(softmax({1 << 16, 1 << 16})).program().mapping.wide_index);
  const std::int64_t far = std::int64_t{1} << 31;
  EXPECT_TRUE(lowered(exponential({{64, 64}, {far / 32, 1}, 0})).program().mapping.wide_index)
      << "few elements, far apart";
  EXPECT_FALSE(lowered(exponential({{64, 64}, {far / 256, 1}, 0})).program().mapping.wide_index);
}

TEST(DeviceLowering, ScalarsSayWhatDividesThem) {
  const Kernel kernel = lowered(exponential({{64, 1000}, {1024, 1}, 0}));
  bool found = false;
  for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
    const tile::ScalarParam& scalar = kernel.program().scalars[i];
    if (scalar.dtype != DType::i64) continue;
    EXPECT_EQ(kernel.scalars[i].bits % scalar.multiple_of, 0) << scalar.name;
    found = found || (kernel.scalars[i].bits == 1024 && scalar.multiple_of >= 4);
  }
  EXPECT_TRUE(found) << "the stride of 1024";
}

TEST(DeviceLowering, BuffersSharedByProgramsAreMarkedReused) {
  GraphMaker maker;
  const Operand x = maker.input({256, 64});
  const Operand bias = maker.input({64});
  maker.output(maker.op(Op::add, {x, expanded(bias, {256, 64})}));
  const Kernel kernel = lowered(maker.graph);
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    EXPECT_EQ(kernel.program().buffers[i].reused, kernel.buffers[i].node == bias.node) << i;
}

}  // namespace
}  // namespace sinter
