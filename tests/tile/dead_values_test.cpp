// What the builder leaves out of a program: values that nothing uses, and constants' copies.
#include "src/tile/dead_values.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <algorithm>
#include <cmath>

#include "src/tile/builder.h"

namespace sinter::tile {
namespace {

class DeadValuesTest : public testing::Test {
 protected:
  Builder b{"dead"};
  int x = b.add_buffer("x", DType::f32, false);
  int y = b.add_buffer("y", DType::f32, true);
  ValueId n = b.add_scalar("n", DType::i64);
  ValueId cols = b.arange(Axis::cols, 16);

  ValueId load() { return b.load(x, cols, kNoValue, kNoValue); }
  void store(ValueId value) { b.store(y, cols, value, kNoValue); }

  static int count(const TileProgram& program, Code code) {
    int found = 0;
    for_each_instr(program.body, [&](const Instr& instr) { found += instr.code == code; });
    return found;
  }
};

TEST_F(DeadValuesTest, WhatNothingUsesIsLeftOutWithWhatOnlyItUses) {
  const ValueId value = load();
  b.pointwise(Op::exp, {b.pointwise(Op::log, {load()})});
  store(value);
  const TileProgram program = b.finish();
  EXPECT_EQ(count(program, Code::load), 1);
  EXPECT_EQ(count(program, Code::pointwise), 0);
  EXPECT_EQ(count(program, Code::scalar), 0) << "a parameter need not be used";
  EXPECT_EQ(program.scalars.size(), 1u);
  EXPECT_NO_THROW(verify(program));
  EXPECT_NO_THROW(verify_no_waste(program));
}

TEST_F(DeadValuesTest, TheValuesLeftAreNumberedInTheirOrder) {
  load();
  store(b.pointwise(Op::exp, {load()}));
  const TileProgram program = b.finish();
  EXPECT_EQ(program.values.size(), 3u);
  ValueId next = 0;
  for (const Instr& instr : program.body)
    for (ValueId id : instr.results) EXPECT_EQ(id, next++);
}

TEST_F(DeadValuesTest, ALoopWithAStoreStaysAndOneWithoutEffectGoes) {
  const auto add_loop = [&](bool stores) {
    b.loop(b.integer(0), n, b.integer(1), std::vector{b.integer(0)},
           [&](ValueId i, std::span<const ValueId> carried) {
             if (stores) store(load());
             return std::vector{b.add(carried[0], i)};
           });
  };
  add_loop(true);
  add_loop(false);
  const TileProgram program = b.finish();
  EXPECT_EQ(count(program, Code::loop), 1);
  EXPECT_EQ(count(program, Code::store), 1);
  EXPECT_NO_THROW(verify(program));
}

TEST_F(DeadValuesTest, ALoopsBodyKeepsWhatItHandsOn) {
  const ValueId zero = b.broadcast_to(b.real(0, DType::f32), {1, 16});
  const auto sums = b.loop(b.integer(0), n, b.integer(1), std::vector{zero},
                           [&](ValueId, std::span<const ValueId> carried) {
                             b.pointwise(Op::exp, {carried[0]});
                             return std::vector{b.pointwise(Op::add, {carried[0], load()})};
                           });
  store(sums[0]);
  const TileProgram program = b.finish();
  EXPECT_EQ(count(program, Code::pointwise), 1);
  EXPECT_EQ(count(program, Code::load), 1);
  EXPECT_NO_THROW(verify(program));
}

TEST_F(DeadValuesTest, OneOfTwoResultsIsEnough) {
  const auto best = b.reduce(ReduceKind::argmax, std::vector{load(), cols});
  b.store(y, b.integer(0), b.cast(best[1], DType::f32), kNoValue);
  EXPECT_EQ(count(b.finish(), Code::reduce), 1);
}

TEST_F(DeadValuesTest, EqualConstantsAreOneValue) {
  EXPECT_EQ(b.integer(3), b.integer(3));
  EXPECT_NE(b.integer(3), b.integer(3, DType::i32));
  EXPECT_NE(b.integer(3), b.integer(4));
  EXPECT_EQ(b.real(0.5, DType::f32), b.real(0.5, DType::f32));
  EXPECT_NE(b.real(0.0, DType::f32), b.real(-0.0, DType::f32)) << "the sign of zero stays";
  EXPECT_EQ(b.real(std::nan(""), DType::f32), b.real(std::nan(""), DType::f32));
}

TEST_F(DeadValuesTest, AConstantOfALoopsBodyIsSeenAfterIt) {
  ValueId inside = kNoValue;
  b.loop(b.integer(0), n, b.integer(1), {}, [&](ValueId, std::span<const ValueId>) {
    inside = b.real(2, DType::f32);
    store(b.pointwise(Op::mul, {load(), inside}));
    return std::vector<ValueId>{};
  });
  EXPECT_EQ(b.real(2, DType::f32), inside);
  store(b.pointwise(Op::add, {load(), inside}));
  EXPECT_NO_THROW(verify(b.program()));
  const TileProgram program = b.finish();
  EXPECT_TRUE(std::none_of(program.body.begin(), program.body.end(), [](const Instr& instr) {
    return std::any_of(instr.body.begin(), instr.body.end(),
                       [](const Instr& inner) { return inner.code == Code::constant; });
  }));
}

TEST_F(DeadValuesTest, WasteIsRefusedByName) {
  store(load());
  b.pointwise(Op::exp, {load()});
  EXPECT_THROW(verify_no_waste(b.program()), InternalError);
  TileProgram program = b.finish();
  EXPECT_NO_THROW(verify_no_waste(program));
  Instr copy;
  copy.real = 1;
  for (int i = 0; i < 2; ++i) {
    program.values.push_back({DType::f32, {}});
    copy.results = {static_cast<ValueId>(program.values.size()) - 1};
    program.body.insert(program.body.begin(), copy);
    Instr use;
    use.code = Code::store;
    use.index = y;
    use.args = {0, copy.results[0], kNoValue};
    program.body.push_back(use);
  }
  EXPECT_THROW(verify_no_waste(program), InternalError);
}

}  // namespace
}  // namespace sinter::tile
