// The index space of a group: which axes merge, and the accesses along them.
#include "src/lower/iteration.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::expanded;
using testing_support::GraphMaker;
using testing_support::sliced;
using testing_support::transposed;

// "24" or "4 6r": sizes, r for reduced.
std::string axes_text(const IterationSpace& space) {
  std::ostringstream text;
  for (AxisId i = 0; i < space.axes.end_id(); ++i)
    text << (i ? " " : "") << space.axes[i].size << (space.axes[i].reduced ? "r" : "");
  return text.str();
}

IterationSpace space_of(const Graph& graph) {
  const Plan plan = make_plan(graph, {});
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  return iteration_space(plan, 0);
}

TEST(IterationTest, DenseAxesMergeIntoOne) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input({4, 5, 6})}));
  const IterationSpace space = space_of(maker.graph);
  EXPECT_EQ(axes_text(space), "120");
  ASSERT_EQ(space.accesses.size(), 2u);
  EXPECT_FALSE(space.accesses[0].write);
  EXPECT_TRUE(space.accesses[1].write);
  EXPECT_EQ(space.accesses[0].strides, ByAxis<std::int64_t>({1}));
}

TEST(IterationTest, ABroadcastKeepsItsAxisApart) {
  GraphMaker maker;
  const Operand x = maker.input({4, 5, 6});
  const Operand bias = maker.input({6});
  maker.output(maker.op(Op::add, {x, expanded(bias, {4, 5, 6})}));
  const IterationSpace space = space_of(maker.graph);
  EXPECT_EQ(axes_text(space), "20 6");
  EXPECT_EQ(space.accesses[1].strides, ByAxis<std::int64_t>({0, 1}));
}

TEST(IterationTest, ATransposeKeepsAxesApart) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand y = maker.input({6, 4});
  maker.output(maker.op(Op::add, {x, transposed(y)}));
  EXPECT_EQ(axes_text(space_of(maker.graph)), "4 6");
}

TEST(IterationTest, UnitAxesAreGone) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input_view({{1, 4, 1, 6, 1}, {0, 8, 0, 1, 0}, 0})}));
  EXPECT_EQ(axes_text(space_of(maker.graph)), "4 6");
}

TEST(IterationTest, AScalarHasNoAxes) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input({1, 1})}));
  EXPECT_EQ(axes_text(space_of(maker.graph)), "");
}

TEST(IterationTest, ReducedAxesMergeAmongThemselves) {
  GraphMaker maker;
  maker.output(maker.reduce(ReduceKind::sum, maker.input({2, 3, 4, 5}), {2, 3}));
  EXPECT_EQ(axes_text(space_of(maker.graph)), "6 20r");
}

TEST(IterationTest, ReducedAxesWithAKeptOneBetweenMergeOnlyIfMemoryAgrees) {
  GraphMaker maker;
  maker.output(maker.reduce(ReduceKind::sum, maker.input({2, 3, 4}), {0, 2}));
  EXPECT_EQ(axes_text(space_of(maker.graph)), "2r 3 4r");
}

TEST(IterationTest, OneReducedAxisStaysEvenIfItHasOneElement) {
  GraphMaker maker;
  maker.output(maker.reduce(ReduceKind::sum, maker.input({4, 1, 1}), {1, 2}));
  EXPECT_EQ(axes_text(space_of(maker.graph)), "4 1r");
}

TEST(IterationTest, RowLevelAccessesDoNotMoveAlongReducedAxes) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand weight = maker.input({4});
  const Operand total = maker.reduce(ReduceKind::sum, x, {1});
  const Operand scaled = maker.op(Op::mul, {total, weight});
  maker.output(scaled);
  maker.output(maker.op(Op::add, {x, along_rows(scaled, 6)}));
  const IterationSpace space = space_of(maker.graph);
  EXPECT_EQ(axes_text(space), "4 6r");
  const Access& read = space.find_read(weight, true);
  EXPECT_EQ(read.strides, ByAxis<std::int64_t>({1, 0}));
  const Access& write = space.find_write(scaled.node);
  EXPECT_TRUE(write.per_row);
  EXPECT_EQ(write.strides, ByAxis<std::int64_t>({1, 0}));
}

TEST(IterationTest, OneAccessForOneViewHoweverOftenItIsRead) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand total = maker.reduce(ReduceKind::sum, maker.op(Op::exp, {x}), {1});
  maker.output(maker.op(Op::sub, {x, along_rows(total, 6)}));
  EXPECT_EQ(space_of(maker.graph).accesses.size(), 2u) << "x once, the result once";
}

TEST(IterationTest, ASliceStartsAtItsOffset) {
  GraphMaker maker;
  const Operand x = maker.input({8, 6});
  maker.output(maker.op(Op::exp, {sliced(sliced(x, 0, 1, 3, 2), 1, 2, 4)}));
  const IterationSpace space = space_of(maker.graph);
  EXPECT_EQ(axes_text(space), "3 4");
  EXPECT_EQ(space.accesses[0].offset, 6 + 2);
  EXPECT_EQ(space.accesses[0].strides, ByAxis<std::int64_t>({12, 1}));
}

TEST(IterationTest, AValueInsideAConcatIsWrittenWithItsStrides) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  maker.output(maker.concat({maker.op(Op::exp, {x}), maker.op(Op::neg, {x})}, 1));
  const IterationSpace space = space_of(maker.graph);
  EXPECT_EQ(axes_text(space), "4 6");
  EXPECT_EQ(space.accesses[2].offset, 6);
  EXPECT_EQ(space.accesses[2].strides, ByAxis<std::int64_t>({12, 1}));
}

// The tiles GPU threads keep live until their row is reduced: the elements themselves, or costly
// values computed from them.
TEST(IterationTest, ComputedTilesLiveAcrossAReductionAreCounted) {
  const Shape shape{4, 8};
  const auto rows = [&](const Operand& row) { return along_rows(row, shape[1]); };
  {
    GraphMaker m;
    const Operand x = m.input(shape);
    m.output(m.op(Op::mul, {x, rows(m.reduce(ReduceKind::sum, x, {1}))}));
    const IterationSpace space = space_of(m.graph);
    EXPECT_EQ(space.reductions, 1);
    EXPECT_TRUE(space.needs_rows_again);
    EXPECT_EQ(space.kept_computed, 0);
  }
  {
    GraphMaker m;
    const Operand powers = m.op(Op::exp, {m.input(shape)});
    m.output(m.op(Op::mul, {powers, rows(m.reduce(ReduceKind::sum, powers, {1}))}));
    EXPECT_EQ(space_of(m.graph).kept_computed, 1);
  }
  {
    GraphMaker m;
    const Operand x = m.input(shape);
    m.output(m.reduce(ReduceKind::sum, x, {1}));
    m.output(m.op(Op::cos, {x}));
    EXPECT_EQ(space_of(m.graph).kept_computed, 0) << "the cosines wait for nothing";
  }
  {
    GraphMaker m;
    m.output(m.reduce(ReduceKind::sum, m.op(Op::exp, {m.input(shape)}), {1}));
    EXPECT_EQ(space_of(m.graph).kept_computed, 0) << "nobody needs the exponentials again";
  }
  {
    GraphMaker m;
    const Operand x = m.input(shape);
    const Operand powers = m.op(Op::exp, {x});
    m.output(m.op(Op::mul, {x, rows(m.reduce(ReduceKind::sum, powers, {1}))}));
    EXPECT_EQ(space_of(m.graph).kept_computed, 0) << "only x is needed again";
  }
}
TEST(IterationTest, ComputedTilesThatAreKeptAtOnce) {
  const Shape shape{4, 8};
  const auto scaled = [&](GraphMaker& m, const Operand& x) {
    return m.op(Op::mul, {x, along_rows(m.reduce(ReduceKind::sum, x, {1}), shape[1])});
  };
  {
    GraphMaker m;
    const Operand first = scaled(m, m.op(Op::exp, {m.input(shape)}));
    m.output(scaled(m, m.op(Op::exp, {first})));
    EXPECT_EQ(space_of(m.graph).kept_computed, 1) << "the second takes the place of the first";
  }
  {
    GraphMaker m;
    const Operand first = scaled(m, m.op(Op::exp, {m.input(shape)}));
    const Operand second = scaled(m, m.op(Op::exp, {first}));
    m.output(m.op(Op::add, {first, second}));
    EXPECT_EQ(space_of(m.graph).kept_computed, 2) << "both are needed in the end";
  }
  {
    GraphMaker m;
    const Operand x = m.input(shape);
    m.output(m.op(Op::add, {scaled(m, m.op(Op::exp, {x})), scaled(m, m.op(Op::erf, {x}))}));
    EXPECT_EQ(space_of(m.graph).kept_computed, 2) << "side by side";
  }
  {
    GraphMaker m;
    const Operand errors = m.op(Op::erf, {m.input(shape)});
    const Operand centred =
        m.op(Op::sub, {errors, along_rows(m.reduce(ReduceKind::sum, errors, {1}), shape[1])});
    m.output(m.op(Op::add, {errors, scaled(m, centred)}));
    EXPECT_EQ(space_of(m.graph).kept_computed, 1) << "the differences are made again";
  }
}
// Independent of the order of independent reductions.
TEST(IterationTest, TilesComputedAfterAllReductionsAreNotCounted) {
  const Shape shape{4, 8};
  for (const bool max_first : {true, false}) {
    GraphMaker m;
    const Operand x = m.input(shape);
    const auto max = [&] { return along_rows(m.reduce(ReduceKind::max, x, {1}), shape[1]); };
    const auto sum = [&] {
      return along_rows(m.reduce(ReduceKind::sum, m.op(Op::mul, {x, x}), {1}), shape[1]);
    };
    const Operand first = max_first ? max() : sum();
    const Operand second = max_first ? sum() : max();
    const Operand powers = m.op(Op::exp, {m.op(Op::sub, {x, max_first ? first : second})});
    m.output(m.op(Op::mul, {powers, max_first ? second : first}));
    EXPECT_EQ(space_of(m.graph).kept_computed, 0) << max_first;
  }
}
TEST(IterationTest, TilesLiveAcrossADeeperReductionAreCounted) {
  const Shape shape{4, 8};
  GraphMaker m;
  const Operand x = m.input(shape);
  const auto sum = [&](const Operand& of) {
    return along_rows(m.reduce(ReduceKind::sum, of, {1}), shape[1]);
  };
  const Operand far =
      m.op(Op::abs, {m.op(Op::sub, {x, along_rows(m.reduce(ReduceKind::max, x, {1}), shape[1])})});
  const Operand deep = sum(far);
  const Operand powers = m.op(Op::exp, {m.op(Op::sub, {x, sum(m.op(Op::mul, {x, x}))})});
  m.output(m.op(Op::mul, {powers, deep}));
  EXPECT_EQ(space_of(m.graph).kept_computed, 1);
}

}  // namespace
}  // namespace sinter
