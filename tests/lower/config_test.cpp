// The CPU heuristic's decisions: family, axes, and whether stores bypass the cache. Checks tile
// sizes only where they are guaranteed; tuning may change the others.
#include "src/lower/config.h"

#include <gtest/gtest.h>

#include <bit>

#include "src/lower/family.h"
#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

using testing_support::GraphMaker;
using testing_support::transposed;

struct Decision {
  IterationSpace space;
  Config config;

  const Tiling& tiling() const { return tiling_of(config); }
  std::string_view family() const { return family_of(config).name; }
};

Decision decide(const Graph& graph) {
  const Plan plan = make_plan(graph, {});
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  Decision decision{iteration_space(plan, 0), {}};
  decision.config = choose_config(decision.space, Machine{});
  return decision;
}

Decision decide_reduction(const Shape& shape, std::initializer_list<int> axes) {
  GraphMaker maker;
  maker.output(maker.reduce(ReduceKind::sum, maker.input(shape), axes));
  return decide(maker.graph);
}

std::int64_t size_along(const Decision& decision, int axis) {
  return decision.space.axes[axis].size;
}

TEST(ConfigTest, APointwiseChainWalksAlongMemory) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input({512, 512})}));
  const Decision d = decide(maker.graph);
  EXPECT_EQ(d.family(), "pointwise");
  EXPECT_EQ(d.tiling().col_axis, 0) << "the one merged axis";
  EXPECT_EQ(d.tiling().row_axis, -1);
  EXPECT_TRUE(std::has_single_bit(static_cast<std::uint64_t>(d.tiling().tile_cols)));
}

TEST(ConfigTest, AScalarNeedsNoAxes) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input({})}));
  const Decision d = decide(maker.graph);
  EXPECT_EQ(d.family(), "pointwise");
  EXPECT_EQ(d.tiling().col_axis, -1);
  EXPECT_EQ(d.tiling().tile_cols, 1);
}

TEST(ConfigTest, ATransposedOperandGetsATileOfBothAxes) {
  GraphMaker maker;
  const Operand x = maker.input({512, 512});
  const Operand y = maker.input({512, 512});
  maker.output(maker.op(Op::add, {x, transposed(y)}));
  const Decision d = decide(maker.graph);
  EXPECT_EQ(d.family(), "pointwise");
  EXPECT_EQ(d.tiling().col_axis, 1);
  EXPECT_EQ(d.tiling().row_axis, 0);
  EXPECT_GE(d.tiling().tile_rows, 16);
  EXPECT_GE(d.tiling().tile_cols, 16);
}

TEST(ConfigTest, ShortInnerAxesAreTakenAcross) {
  GraphMaker maker;  // (4096, 3) with gaps between rows: 3 columns make poor vectors
  maker.output(maker.op(Op::exp, {maker.input_view({{4096, 3}, {4, 1}, 0})}));
  const Decision d = decide(maker.graph);
  EXPECT_EQ(size_along(d, d.tiling().col_axis), 4096);
}

TEST(ConfigTest, RowsThatFitAreHeldWhole) {
  const Decision d = decide_reduction({256, 1000}, {1});
  EXPECT_EQ(d.family(), "row");
  EXPECT_EQ(d.tiling().tile_cols, 1024);
  EXPECT_TRUE(d.space.axes[d.tiling().col_axis].reduced);
}

TEST(ConfigTest, ShortRowsAreTakenSeveralAtOnce) {
  const Decision d = decide_reduction({4096, 64}, {1});
  EXPECT_EQ(d.family(), "row");
  EXPECT_EQ(d.tiling().row_axis, 0);
  EXPECT_GT(d.tiling().tile_rows, 1);
}

TEST(ConfigTest, FewerShortRowsAreTakenAtOnceWhereTheyAreStoredToMemory) {
  const Decision reduced = decide_reduction({1 << 22, 128}, {1});
  GraphMaker maker;
  const Operand x = maker.input({1 << 22, 128});
  maker.output(maker.op(
      Op::sub, {x, testing_support::along_rows(maker.reduce(ReduceKind::max, x, {1}), 128)}));
  const Decision stored = decide(maker.graph);
  EXPECT_EQ(stored.family(), "row");
  EXPECT_GT(stored.tiling().tile_rows, 1);
  EXPECT_LT(stored.tiling().tile_rows, reduced.tiling().tile_rows);
}

TEST(ConfigTest, EndlessRowsAreWalkedInChunks) {
  const Decision d = decide_reduction({4, 1 << 20}, {1});
  EXPECT_EQ(d.family(), "chunked");
  EXPECT_LT(d.tiling().tile_cols, 1 << 20);
}

TEST(ConfigTest, SeveralReducedAxesAreWalkedInChunks) {
  const Decision d = decide_reduction({16, 32, 64, 128}, {1, 3});
  EXPECT_EQ(d.family(), "chunked");
  EXPECT_EQ(size_along(d, d.tiling().col_axis), 128);
}

TEST(ConfigTest, ReducingAnOuterAxisPutsAKeptOneOnTheColumns) {
  const Decision d = decide_reduction({512, 2048}, {0});
  EXPECT_EQ(d.family(), "column");
  EXPECT_EQ(size_along(d, d.tiling().col_axis), 2048);
  EXPECT_FALSE(d.space.axes[d.tiling().col_axis].reduced);
}

TEST(ConfigTest, ReducingAFewNeighboursPutsTheRowsOnTheColumns) {
  const Decision d = decide_reduction({4096, 3}, {1});
  EXPECT_EQ(d.family(), "column");
  EXPECT_EQ(size_along(d, d.tiling().col_axis), 4096);
}

TEST(ConfigTest, StoresStreamOnceTheDataExceedsTheCache) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input({64})}));
  IterationSpace space = iteration_space(make_plan(maker.graph, {}), 0);
  EXPECT_EQ(space.bytes, 2 * 64 * 4);
  Machine machine;
  machine.cache_bytes = space.bytes;
  EXPECT_EQ(tiling_of(choose_config(space, machine)).caching, tile::Caching::any);
  ++space.bytes;
  EXPECT_EQ(tiling_of(choose_config(space, machine)).caching, tile::Caching::nothing);
}

TEST(ConfigTest, PrintsFormAndTile) {
  EXPECT_NE(to_string(Config{RowConfig{{1, 0, 4, 64}}}).find("row (4, 64)"), std::string::npos);
}

}  // namespace
}  // namespace sinter
