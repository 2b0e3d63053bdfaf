// Every form of lowering, run by the interpreter, against the f64 reference. all_configs() lists
// every form, column axis, row axis and tile that a group allows; each program is tested with all.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <ostream>

#include "src/graph/simplify.h"
#include "src/lower/family.h"
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
using testing_support::seen;
using testing_support::sliced;
using testing_support::transposed;

std::int64_t bucket(std::int64_t size) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 16))));
}

std::vector<Config> all_configs(const IterationSpace& space) {
  std::vector<Config> configs;
  auto with_rows = [&](Config config) {
    configs.push_back(config);
    Tiling& tiling = tiling_of(config);
    for (int axis : space.kept_axes()) {
      if (axis == tiling.col_axis) continue;
      tiling.row_axis = axis;
      for (bool rows_first : {false, true}) {
        tiling.tile_rows = 8;
        tiling.rows_first = rows_first;
        configs.push_back(config);
      }
    }
  };
  const auto reduced = space.reduced_axes();
  if (reduced.empty()) {
    if (space.axes.empty()) return {PointwiseConfig{}};
    for (int axis : space.kept_axes())
      with_rows(PointwiseConfig{{.col_axis = axis, .tile_cols = 16}});
    return configs;
  }
  if (reduced.size() == 1) {
    const std::int64_t size = space.axes[reduced[0]].size;
    with_rows(RowConfig{{.col_axis = reduced[0], .tile_cols = bucket(size)}});
  }
  configs.push_back(ChunkedConfig{{.col_axis = reduced.back(), .tile_cols = 16}});
  for (int axis : space.kept_axes())
    configs.push_back(ColumnConfig{{.col_axis = axis, .tile_cols = 16}});
  return configs;
}

// Runs the program fused and unfused, each group with each of its configs.
void expect_every_config_right(const Graph& graph, std::vector<Numbers> inputs,
                               double bound = 1e-5) {
  verify(graph);
  const auto expected = evaluate(graph, inputs);
  for (bool fuse : {true, false}) {
    const Plan plan = make_plan(simplify(graph), {fuse, 1});
    verify(plan);
    std::size_t most = 0;
    for (int g = 0; g < static_cast<int>(plan.groups.size()); ++g)
      most = std::max(most, all_configs(iteration_space(plan, g)).size());
    for (std::size_t i = 0; i < most; ++i) {
      std::string used;
      const auto actual = run_plan(plan, inputs, [&](const IterationSpace& space) {
        const std::vector<Config> configs = all_configs(space);
        const Config config = configs[std::min(i, configs.size() - 1)];
        used += to_string(config) + ", ";
        return config;
      });
      expect_close(actual, expected, bound, used + "\n" + to_string(plan));
      if (testing::Test::HasFatalFailure()) return;
    }
    expect_close(run_plan(plan, inputs), expected, bound, "chosen\n" + to_string(plan));
  }
}

void expect_every_config_right(const Graph& graph, double bound = 1e-5) {
  expect_every_config_right(graph, random_inputs(graph, 17), bound);
}

// --- over shapes ---

struct Size {
  std::int64_t rows;
  std::int64_t cols;
};

void PrintTo(const Size& size, std::ostream* out) { *out << size.rows << "x" << size.cols; }

class LowerTest : public testing::TestWithParam<Size> {
 protected:
  std::int64_t rows() const { return GetParam().rows; }
  std::int64_t cols() const { return GetParam().cols; }
  Shape shape() const { return {rows(), cols()}; }
};

TEST_P(LowerTest, PointwiseWithBroadcastAndTransposedOperands) {
  GraphMaker maker;
  const Operand x = maker.input(shape());
  const Operand bias = maker.input({cols()});
  const Operand scale = maker.input({rows()});
  const Operand y = maker.input({cols(), rows()});
  const Operand sum = maker.op(Op::add, {x, expanded(bias, shape())});
  const Operand scaled = maker.op(Op::mul, {sum, along_rows(scale, cols())});
  maker.output(maker.op(Op::sub, {scaled, transposed(y)}));
  maker.output(maker.op(Op::maximum, {sum, maker.number(0.25, shape())}));
  expect_every_config_right(maker.graph);
}

TEST_P(LowerTest, PointwiseOnSlices) {
  GraphMaker maker;
  const Operand x = maker.input({2 * rows() + 1, cols() + 3});
  const Operand part = sliced(sliced(x, 0, 1, rows(), 2), 1, 2, cols());
  const Operand other = sliced(sliced(x, 0, 0, rows()), 1, 0, cols());
  maker.output(maker.op(Op::mul, {part, other}));
  expect_every_config_right(maker.graph);
}

TEST_P(LowerTest, Softmax) {
  GraphMaker maker;
  const Operand x = maker.input(shape());
  const Operand top = maker.reduce(ReduceKind::max, x, {1});
  const Operand power = maker.op(Op::exp, {maker.op(Op::sub, {x, along_rows(top, cols())})});
  const Operand total = maker.reduce(ReduceKind::sum, power, {1});
  maker.output(maker.op(Op::div, {power, along_rows(total, cols())}));
  maker.output(total);
  expect_every_config_right(maker.graph);
}

TEST_P(LowerTest, ColumnSumsAndTheirCentredValues) {
  GraphMaker maker;
  const Operand x = maker.input(shape());
  const Operand total = maker.reduce(ReduceKind::sum, x, {0});
  const Operand scaled = maker.op(Op::mul, {total, maker.number(0.1, {cols()})});
  maker.output(maker.op(Op::sub, {x, expanded(scaled, shape())}));
  maker.output(total);
  expect_every_config_right(maker.graph, 1e-4);
}

TEST_P(LowerTest, EveryReductionInOneKernel) {
  GraphMaker maker;
  const Operand x = maker.input(shape());
  for (ReduceKind kind : {ReduceKind::sum, ReduceKind::prod, ReduceKind::max, ReduceKind::min,
                          ReduceKind::argmax, ReduceKind::argmin})
    maker.output(maker.reduce(kind, x, {1}));
  if (cols() == 0) GTEST_SKIP() << "extremes of nothing: refused by the API";
  expect_every_config_right(maker.graph, 1e-4);
}

TEST_P(LowerTest, ArgmaxOfColumns) {
  if (rows() == 0) GTEST_SKIP() << "extremes of nothing: refused by the API";
  GraphMaker maker;
  const Operand x = maker.input(shape());
  maker.output(maker.reduce(ReduceKind::argmax, x, {0}));
  maker.output(maker.reduce(ReduceKind::argmin, maker.op(Op::abs, {x}), {0}));
  expect_every_config_right(maker.graph);
}

TEST_P(LowerTest, SumsOfIntegersAndBools) {
  GraphMaker maker;
  const Operand i = maker.input(shape(), DType::i32);
  const Operand b = maker.input(shape(), DType::boolean);
  maker.output(maker.reduce(ReduceKind::sum, i, {1}));
  maker.output(maker.reduce(ReduceKind::sum, b, {1}));
  maker.output(maker.reduce(ReduceKind::max, b, {1}));
  maker.output(maker.reduce(ReduceKind::min, b, {0}));
  expect_every_config_right(maker.graph);
}

TEST_P(LowerTest, RangesAreComputedNotRead) {
  GraphMaker maker;
  const Operand x = maker.input(shape(), DType::i64);
  const Operand range =
      maker.range(cols(), Scalar::of(std::int64_t{5}), Scalar::of(std::int64_t{-2}), DType::i64);
  const Operand places = maker.range(rows(), Scalar::of(0.5), Scalar::of(0.25), DType::f32);
  maker.output(maker.op(Op::add, {x, expanded(range, shape())}));
  const Operand wide = maker.cast(x, DType::f32);
  maker.output(
      maker.reduce(ReduceKind::sum, maker.op(Op::mul, {wide, along_rows(places, cols())}), {1}));
  expect_every_config_right(maker.graph, 1e-4);
}

TEST_P(LowerTest, SixteenBitFloatsComputeInF32) {
  GraphMaker maker;
  const Operand x = maker.input(shape(), DType::f16);
  const Operand y = maker.input(shape(), DType::bf16);
  const Operand a = maker.op(Op::mul, {x, x});
  maker.output(maker.op(Op::add, {maker.cast(a, DType::f32), maker.cast(y, DType::f32)}));
  maker.output(maker.reduce(ReduceKind::sum, y, {1}));
  expect_every_config_right(maker.graph, 1e-2);
}

TEST_P(LowerTest, ConcatIsWrittenInPlace) {
  GraphMaker maker;
  const Operand x = maker.input(shape());
  maker.output(maker.concat({maker.op(Op::exp, {x}), x, maker.op(Op::neg, {x})}, 1));
  maker.output(maker.concat({maker.op(Op::sin, {x}), maker.op(Op::neg, {x})}, 0));
  expect_every_config_right(maker.graph);
}

INSTANTIATE_TEST_SUITE_P(Sizes, LowerTest,
                         testing::Values(Size{1, 1}, Size{1, 37}, Size{19, 1}, Size{5, 16},
                                         Size{9, 33}, Size{17, 50}, Size{0, 7}, Size{7, 0}),
                         [](const auto& size) {
                           return std::to_string(size.param.rows) + "x" +
                                  std::to_string(size.param.cols);
                         });

// --- more axes ---

TEST(LowerShapesTest, ReducedAxesWithKeptOnesBetween) {
  for (auto axes : {std::initializer_list<int>{0, 2}, {1, 3}, {0, 3}, {1}, {0, 1, 2, 3}}) {
    GraphMaker maker;
    const Operand x = maker.input({3, 5, 4, 7});
    const Operand total = maker.reduce(ReduceKind::sum, maker.op(Op::square, {x}), axes);
    maker.output(total);
    maker.output(maker.reduce(ReduceKind::max, x, axes));
    expect_every_config_right(maker.graph, 1e-4);
  }
}

TEST(LowerShapesTest, RowValuesUsedAgainAcrossTwoReducedAxes) {
  GraphMaker maker;  // instance norm: (N, C, H, W) over H and W
  const Shape shape{2, 3, 5, 6};
  const Operand x = maker.input(shape);
  const Operand total = maker.reduce(ReduceKind::sum, x, {2, 3});
  const View spread{shape, {3, 1, 0, 0}, 0};
  const Operand centred = maker.op(Op::sub, {x, seen(total, spread)});
  const Operand second = maker.reduce(ReduceKind::sum, maker.op(Op::square, {centred}), {2, 3});
  maker.output(maker.op(Op::mul, {centred, seen(maker.op(Op::rsqrt, {second}), spread)}));
  expect_every_config_right(maker.graph, 1e-4);
}

TEST(LowerShapesTest, AReductionOfASliceOfATranspose) {
  GraphMaker maker;
  const Operand x = maker.input({20, 30});
  const Operand part = sliced(sliced(transposed(x), 0, 3, 9, 3), 1, 1, 18);
  maker.output(maker.reduce(ReduceKind::sum, part, {1}));
  maker.output(maker.reduce(ReduceKind::argmin, part, {1}));
  expect_every_config_right(maker.graph, 1e-4);
}

TEST(LowerShapesTest, AnInputStoredWithGapsAndRepeats) {
  GraphMaker maker;
  const Operand gaps = maker.input_view({{5, 9}, {12, 1}, 0});
  const Operand repeated = maker.input_view({{5, 9}, {0, 1}, 0});
  const Operand windows = maker.input_view({{5, 9}, {1, 1}, 0});  // overlapping
  const Operand sum = maker.op(Op::add, {gaps, maker.op(Op::mul, {repeated, windows})});
  maker.output(sum);
  maker.output(maker.reduce(ReduceKind::max, sum, {1}));
  expect_every_config_right(maker.graph);
}

TEST(LowerShapesTest, ScalarsAreOneProgram) {
  GraphMaker maker;
  const Operand x = maker.input({});
  maker.output(maker.op(Op::exp, {x}));
  const Plan plan = make_plan(maker.graph, {});
  const IterationSpace space = iteration_space(plan, 0);
  EXPECT_EQ(lower(plan, 0, space, PointwiseConfig{}).grid, 1);
  expect_every_config_right(maker.graph);
}

TEST(LowerShapesTest, NothingToComputeIsNoProgramAtAll) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input({0, 7})}));
  const Plan plan = make_plan(maker.graph, {});
  const IterationSpace space = iteration_space(plan, 0);
  EXPECT_EQ(lower(plan, 0, space, choose_config(space, {})).grid, 0);
}

TEST(LowerShapesTest, ASumOfNothingIsZero) {
  GraphMaker maker;
  const Operand x = maker.input({4, 0});
  maker.output(maker.reduce(ReduceKind::sum, x, {1}));
  maker.output(maker.reduce(ReduceKind::prod, x, {1}));
  expect_every_config_right(maker.graph);
}

// --- values ---

TEST(LowerValuesTest, NansAndInfinitiesAreNumbersLikeOthers) {
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  GraphMaker maker;
  const Operand x = maker.input({6, 20});
  for (ReduceKind kind :
       {ReduceKind::sum, ReduceKind::max, ReduceKind::min, ReduceKind::argmax, ReduceKind::argmin})
    maker.output(maker.reduce(kind, x, {1}));
  maker.output(maker.reduce(ReduceKind::argmax, x, {0}));
  Numbers values(120);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 7);
  values[5] = nan;                                         // one in row 0
  values[20 + 17] = values[20 + 3] = nan;                  // two in row 1
  values[40 + 19] = inf;                                   // last of row 2
  for (std::size_t i = 60; i < 80; ++i) values[i] = -inf;  // all of row 3
  for (std::size_t i = 80; i < 100; ++i) values[i] = nan;
  for (std::size_t i = 100; i < 120; ++i) values[i] = inf;
  expect_every_config_right(maker.graph, {values});
}

TEST(LowerValuesTest, ExtremesOfIntegersAtTheirLimits) {
  GraphMaker maker;
  const Operand x = maker.input({3, 18}, DType::i32);
  for (ReduceKind kind : {ReduceKind::max, ReduceKind::min, ReduceKind::argmax, ReduceKind::argmin})
    maker.output(maker.reduce(kind, x, {1}));
  Numbers values(54, -2147483648.0);
  for (std::size_t i = 18; i < 36; ++i) values[i] = 2147483647.0;
  values[40] = 5;
  expect_every_config_right(maker.graph, {values});
}

TEST(LowerValuesTest, ExplicitCastsRound) {
  GraphMaker maker;
  const Operand x = maker.input({40});
  maker.output(maker.cast(maker.cast(x, DType::f16), DType::f32));
  maker.output(maker.cast(maker.op(Op::mul, {x, maker.number(100, {40})}), DType::i32));
  maker.output(maker.cast(x, DType::boolean));
  expect_every_config_right(maker.graph, random_inputs(maker.graph, 2), 0);
}

TEST(LowerValuesTest, ConstantsOfEveryType) {
  GraphMaker maker;
  const Operand i = maker.input({8}, DType::i64);
  const Operand d = maker.input({8}, DType::f64);
  const Operand b = maker.input({8}, DType::boolean);
  maker.output(maker.op(Op::add, {i, maker.number(-3, {8}, DType::i64)}));
  maker.output(maker.op(Op::mul, {d, maker.number(0.1, {8}, DType::f64)}));
  maker.output(maker.op(Op::logical_xor, {b, maker.number(1, {8}, DType::boolean)}));
  expect_every_config_right(maker.graph, 1e-15);
}

// --- kernels ---

TEST(LowerKernelTest, IsNamedAfterItsOperations) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  maker.output(maker.reduce(ReduceKind::max, maker.op(Op::exp, {x}), {1}));
  const Plan plan = make_plan(maker.graph, {});
  const IterationSpace space = iteration_space(plan, 0);
  const Kernel kernel = lower(plan, 0, space, choose_config(space, {}));
  EXPECT_EQ(kernel.program().name, "exp_max");
  ASSERT_EQ(kernel.buffers.size(), 2u);
  EXPECT_EQ(kernel.buffers[0].node, x.node);
  EXPECT_FALSE(kernel.program().buffers[0].written);
  EXPECT_TRUE(kernel.program().buffers[1].written);
}

TEST(LowerKernelTest, OneProgramServesOtherSizes) {
  // Sizes, strides and constants are parameters: the text is the same for all sizes in a tile's
  // bucket.
  auto program = [](std::int64_t rows, std::int64_t cols, double factor) {
    GraphMaker maker;
    const Operand x = maker.input({rows, cols});
    const Operand total = maker.reduce(ReduceKind::sum, x, {1});
    const Operand scaled = maker.op(Op::mul, {total, maker.number(factor, {rows})});
    maker.output(maker.op(Op::sub, {x, along_rows(scaled, cols)}));
    const Plan plan = make_plan(maker.graph, {});
    const IterationSpace space = iteration_space(plan, 0);
    return to_string(lower(plan, 0, space, choose_config(space, {})).program());
  };
  EXPECT_EQ(program(300, 1000, 0.5), program(301, 900, -7));
  EXPECT_NE(program(300, 1000, 0.5), program(300, 5000, 0.5)) << "another tile";
}

TEST(LowerKernelTest, CachingIsPassedOn) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input({64})}));
  const Plan plan = make_plan(maker.graph, {});
  IterationSpace space = iteration_space(plan, 0);
  const auto caching = [&](std::int64_t bytes) {
    space.bytes = bytes;
    return lower(plan, 0, space, choose_config(space, {})).program().caching;
  };
  EXPECT_EQ(caching(1 << 30), tile::Caching::nothing);
  EXPECT_EQ(caching(1 << 10), tile::Caching::any);
}

}  // namespace
}  // namespace sinter
