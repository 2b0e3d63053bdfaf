// Stages: where reductions split a block, what is recomputed and what is kept.
#include "src/codegen/analysis/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/tile/builder.h"

namespace sinter {
namespace {

using tile::Axis;
using tile::Builder;
using tile::Instr;
using tile::kNoValue;
using tile::ValueId;

class ScheduleTest : public testing::Test {
 protected:
  Builder b{"schedule"};
  int x = b.add_buffer("x", DType::f32, false);
  int y = b.add_buffer("y", DType::f32, true);
  ValueId n = b.add_scalar("n", DType::i64);
  ValueId cols = b.arange(Axis::cols, 64);

  ValueId load() { return b.load(x, cols, kNoValue, kNoValue); }
  ValueId sum(ValueId value) { return b.reduce(ReduceKind::sum, std::vector{value})[0]; }
  void store(ValueId value) { b.store(y, cols, value, kNoValue); }

  const std::vector<Stage>& stages(Loads loads = Loads::again) {
    index_.emplace(b.program());
    facts_.emplace(b.program());
    stages_ = schedule(b.program(), *facts_, *index_, b.program().body, {}, loads);
    return stages_;
  }

  static bool computes(const Stage& stage, ValueId id) {
    return std::any_of(stage.elements.begin(), stage.elements.end(),
                       [id](const Instr* instr) { return instr->results[0] == id; });
  }
  static bool keeps(const Stage& stage, ValueId id) {
    return std::count(stage.kept.begin(), stage.kept.end(), id) > 0;
  }

 private:
  std::optional<IndexAnalysis> index_;
  std::optional<ProgramFacts> facts_;
  std::vector<Stage> stages_;
};

TEST_F(ScheduleTest, PointwiseWorkIsOneStage) {
  const ValueId value = b.pointwise(Op::exp, {load()});
  store(value);
  ASSERT_EQ(stages().size(), 1u);
  EXPECT_EQ(stages()[0].sinks.size(), 1u);
  EXPECT_EQ(stages()[0].elements.size(), 2u) << "the load and the exp; the index is symbolic";
  EXPECT_TRUE(stages()[0].kept.empty());
}

TEST_F(ScheduleTest, AReductionEndsItsStage) {
  const ValueId value = load();
  const ValueId total = sum(value);
  store(b.pointwise(Op::sub, {value, total}));
  ASSERT_EQ(stages().size(), 2u);
  EXPECT_EQ(stages()[0].sinks[0]->code, tile::Code::reduce);
  EXPECT_EQ(stages()[1].sinks[0]->code, tile::Code::store);
}

TEST_F(ScheduleTest, IndependentReductionsShareAStage) {
  const ValueId value = load();
  const ValueId total = sum(value);
  const ValueId top = b.reduce(ReduceKind::max, std::vector{value})[0];
  store(b.pointwise(Op::sub, {b.pointwise(Op::sub, {value, total}), top}));
  ASSERT_EQ(stages().size(), 2u);
  EXPECT_EQ(stages()[0].sinks.size(), 2u);
}

TEST_F(ScheduleTest, CheapValuesAreComputedAgain) {
  const ValueId value = load();
  const ValueId doubled = b.pointwise(Op::add, {value, value});
  const ValueId total = sum(doubled);
  store(b.pointwise(Op::sub, {doubled, total}));
  ASSERT_EQ(stages().size(), 2u);
  EXPECT_TRUE(stages()[0].kept.empty());
  EXPECT_TRUE(computes(stages()[1], value));
  EXPECT_TRUE(computes(stages()[1], doubled));
}

TEST_F(ScheduleTest, HeavyValuesAreKept) {
  const ValueId power = b.pointwise(Op::exp, {load()});
  const ValueId total = sum(power);
  store(b.pointwise(Op::mul, {power, total}));
  ASSERT_EQ(stages().size(), 2u);
  EXPECT_TRUE(keeps(stages()[0], power));
  EXPECT_FALSE(computes(stages()[1], power));
}

TEST_F(ScheduleTest, GatheredValuesAreKept) {
  const int at = b.add_buffer("at", DType::i64, false);
  const ValueId value = b.load(x, b.load(at, cols, kNoValue, kNoValue), kNoValue, kNoValue);
  const ValueId total = sum(value);
  store(b.pointwise(Op::sub, {value, total}));
  ASSERT_EQ(stages().size(), 2u);
  EXPECT_TRUE(keeps(stages()[0], value));
}

TEST_F(ScheduleTest, ScalarAndRowWorkStandsBeforeTheElements) {
  const ValueId rows = b.arange(Axis::rows, 4);
  const ValueId at = b.add(b.mul(rows, n), cols);
  const ValueId total = sum(b.load(x, at, kNoValue, kNoValue));  // (4, 1)
  const ValueId scaled = b.pointwise(Op::mul, {total, total});
  b.store(y, rows, scaled, kNoValue);
  ASSERT_EQ(stages().size(), 2u);
  ASSERT_EQ(stages()[1].rows.size(), 2u) << "the product and its store";
  EXPECT_TRUE(stages()[1].sinks.empty());
  EXPECT_TRUE(stages()[1].elements.empty());
}

TEST_F(ScheduleTest, ALoopIsAStageOfItsOwnAndTilesItReadsAreKept) {
  const ValueId power = b.pointwise(Op::exp, {load()});
  const ValueId zero = b.broadcast_to(b.real(0, DType::f32), {1, 64});
  const auto left = b.loop(b.integer(0), n, b.integer(1), std::vector{zero},
                           [&](ValueId, std::span<const ValueId> carried) {
                             return std::vector{b.pointwise(Op::add, {carried[0], power})};
                           });
  store(left[0]);
  const auto& found = stages();
  const auto loop = std::find_if(found.begin(), found.end(),
                                 [](const Stage& stage) { return stage.loop != nullptr; });
  ASSERT_NE(loop, found.end());
  EXPECT_TRUE(loop->sinks.empty());
  EXPECT_TRUE(
      std::any_of(found.begin(), loop, [&](const Stage& stage) { return keeps(stage, power); }));
  EXPECT_FALSE(std::next(loop)->sinks.empty()) << "the store comes after";
}

TEST_F(ScheduleTest, TransposedLoadsAreRecognised) {
  const ValueId down = b.arange(Axis::rows, 16);
  const ValueId across = b.add(b.mul(cols, n), down);
  const ValueId loaded = b.load(x, across, kNoValue, kNoValue);
  b.store(y, b.add(b.mul(down, n), cols), loaded, kNoValue);
  const auto& element = *stages()[0].elements[0];
  const IndexAnalysis index(b.program());
  EXPECT_TRUE(is_transposed_load(b.program(), index, element));
}

TEST_F(ScheduleTest, TilesOfTwoShapesAreTwoStages) {
  const int z = b.add_buffer("z", DType::f32, true);
  const ValueId narrow = b.arange(Axis::cols, 24);
  store(load());
  b.store(z, narrow, b.load(x, narrow, kNoValue, kNoValue), kNoValue);
  ASSERT_EQ(stages().size(), 2u);
  EXPECT_EQ(stages()[0].sinks.size(), 1u);
  EXPECT_EQ(stages()[1].sinks.size(), 1u);
}

TEST_F(ScheduleTest, ALoadKeepsItsPlaceBeforeAStore) {
  const ValueId value = b.load(y, cols, kNoValue, kNoValue);
  b.store(y, b.add(cols, n), value, kNoValue);
  ASSERT_EQ(stages().size(), 2u);
  EXPECT_TRUE(keeps(stages()[0], value)) << "loaded once, before anything is written";
  EXPECT_FALSE(computes(stages()[1], value));
}

// --- GPUs: loads stay in registers --------------------------------------------------------------

class HeldLoadsTest : public ScheduleTest {
 protected:
  const std::vector<Stage>& held() { return stages(Loads::stay_late); }
};

TEST_F(HeldLoadsTest, ALoadIsKeptWhereALaterStageNeedsItAgain) {
  const ValueId value = load();
  const ValueId doubled = b.pointwise(Op::add, {value, value});
  const ValueId total = sum(doubled);
  store(b.pointwise(Op::sub, {doubled, total}));
  ASSERT_EQ(held().size(), 2u);
  EXPECT_TRUE(keeps(held()[0], value));
  EXPECT_FALSE(computes(held()[1], value));
  EXPECT_TRUE(computes(held()[1], doubled)) << "cheap to compute again from it";
}

TEST_F(HeldLoadsTest, LoadsMoveToTheOnlyStageThatUsesThem) {
  const int w = b.add_buffer("w", DType::f32, false);
  const ValueId value = load();
  const ValueId weight = b.load(w, cols, kNoValue, kNoValue);
  const ValueId scaled = b.pointwise(Op::exp, {weight});
  const ValueId total = sum(value);
  store(b.pointwise(Op::mul, {scaled, total}));
  ASSERT_EQ(held().size(), 2u);
  EXPECT_FALSE(computes(held()[0], weight));
  EXPECT_FALSE(keeps(held()[0], scaled)) << "nor computed before";
  EXPECT_TRUE(computes(held()[1], weight));
  EXPECT_TRUE(computes(held()[1], scaled));
}

TEST_F(HeldLoadsTest, LoadsUsedByTwoStagesGoToTheFirst) {
  const int w = b.add_buffer("w", DType::f32, false);
  const ValueId value = load();
  const ValueId weight = b.load(w, cols, kNoValue, kNoValue);
  const ValueId first = sum(value);
  const ValueId second = sum(b.pointwise(Op::mul, {weight, first}));
  store(b.pointwise(Op::mul, {weight, second}));
  ASSERT_EQ(held().size(), 3u);
  EXPECT_FALSE(computes(held()[0], weight));
  EXPECT_TRUE(keeps(held()[1], weight));
  EXPECT_FALSE(computes(held()[2], weight));
}

TEST_F(HeldLoadsTest, LoadsOfWrittenBuffersAreNotDelayed) {
  const ValueId before = b.load(y, cols, kNoValue, kNoValue);
  const ValueId total = sum(load());
  store(total);
  b.store(y, b.add(cols, n), b.pointwise(Op::mul, {before, total}), kNoValue);
  const auto& found = held();
  EXPECT_TRUE(keeps(found[0], before)) << "its elements change later";
}

TEST_F(HeldLoadsTest, LoadsUsedInALoopPrecedeIt) {
  const int w = b.add_buffer("w", DType::f32, false);
  const ValueId weight = b.load(w, cols, kNoValue, kNoValue);
  const ValueId total = sum(load());
  const ValueId zero = b.broadcast_to(b.real(0, DType::f32), {1, 64});
  const auto left = b.loop(b.integer(0), n, b.integer(1), std::vector{zero},
                           [&](ValueId, std::span<const ValueId> carried) {
                             return std::vector{b.pointwise(Op::fma, {weight, total, carried[0]})};
                           });
  store(b.pointwise(Op::add, {left[0], weight}));
  const auto& found = held();
  const auto loop = std::find_if(found.begin(), found.end(),
                                 [](const Stage& stage) { return stage.loop != nullptr; });
  ASSERT_NE(loop, found.end());
  EXPECT_TRUE(
      std::any_of(found.begin(), loop, [&](const Stage& stage) { return keeps(stage, weight); }));
  EXPECT_TRUE(
      std::none_of(loop, found.end(), [&](const Stage& stage) { return computes(stage, weight); }));
}

TEST_F(HeldLoadsTest, LoadsCarriedUnchangedByALoopPrecedeIt) {
  const ValueId value = load();
  const ValueId zero = b.broadcast_to(b.real(0, DType::f32), {1, 64});
  const auto left = b.loop(b.integer(0), n, b.integer(1), std::vector{zero},
                           [&](ValueId, std::span<const ValueId>) { return std::vector{value}; });
  store(b.pointwise(Op::add, {left[0], value}));
  const auto& found = held();
  const auto loop = std::find_if(found.begin(), found.end(),
                                 [](const Stage& stage) { return stage.loop != nullptr; });
  ASSERT_NE(loop, found.end());
  EXPECT_TRUE(
      std::any_of(found.begin(), loop, [&](const Stage& stage) { return keeps(stage, value); }));
}

}  // namespace
}  // namespace sinter
