// Divisors of offsets and limits: they determine the width of memory accesses, so a divisor that is
// too large causes a misaligned access on a GPU.
#include "src/codegen/analysis/divisibility.h"

#include <gtest/gtest.h>

#include <optional>

#include "src/tile/builder.h"

namespace sinter {
namespace {

using tile::Axis;
using tile::Builder;
using tile::ValueId;

class DivisibilityTest : public testing::Test {
 protected:
  Builder b{"divisibility"};
  ValueId any = b.add_scalar("any", DType::i64);
  ValueId four = b.add_scalar("four", DType::i64, 4);
  ValueId many = b.add_scalar("many", DType::i64, 1 << 20);
  ValueId cols = b.arange(Axis::cols, 64);
  ValueId rows = b.arange(Axis::rows, 8);

  int of(ValueId id, Axis along = Axis::cols) {
    const IndexAnalysis index(b.program(), IndexForms::atoms);
    const Divisibility divisibility(b.program(), index);
    if (index.mask(id)) return divisibility.of(*index.mask(id));
    return index.affine(id) ? divisibility.of(*index.affine(id), along) : 1;
  }
};

TEST_F(DivisibilityTest, ScalarsAndConstantsHaveKnownDivisors) {
  EXPECT_EQ(of(any), 1);
  EXPECT_EQ(of(four), 4);
  EXPECT_EQ(of(many), Divisibility::kMost);
  EXPECT_EQ(of(b.integer(6)), 2);
  EXPECT_EQ(of(b.integer(0)), Divisibility::kMost);
  EXPECT_EQ(of(b.integer(-8)), 8);
  EXPECT_EQ(of(b.integer(7)), 1);
}

TEST_F(DivisibilityTest, SumsKeepCommonDivisorsAndProductsMultiplyThem) {
  EXPECT_EQ(of(b.add(four, many)), 4);
  EXPECT_EQ(of(b.add(four, any)), 1);
  EXPECT_EQ(of(b.sub(many, four)), 4);
  EXPECT_EQ(of(b.mul(four, b.integer(2))), 8);
  EXPECT_EQ(of(b.mul(four, any)), 4);
  EXPECT_EQ(of(b.mul(many, many)), Divisibility::kMost) << "and does not overflow";
  EXPECT_EQ(of(b.pointwise(Op::minimum, {four, many})), 4);
}

TEST_F(DivisibilityTest, UnknownExpressionsAreMultiplesOfOne) {
  EXPECT_EQ(of(b.program_id()), 1);
  EXPECT_EQ(of(b.quotient(many, four)), 1);
  EXPECT_EQ(of(b.modulo(many, four)), 1);
  const int x = b.add_buffer("x", DType::i64, false);
  EXPECT_EQ(of(b.load(x, cols, tile::kNoValue, tile::kNoValue)), 1);
}

TEST_F(DivisibilityTest, AnOffsetIsJudgedAtTheBeginningOfAVector) {
  const ValueId row_major = b.add(b.mul(rows, four), cols);
  EXPECT_EQ(of(row_major), 4) << "in every row";
  EXPECT_EQ(of(b.add(rows, cols)), 1);
  EXPECT_EQ(of(b.add(b.mul(b.program_id(), four), cols)), 4);
  EXPECT_EQ(of(b.add(b.mul(b.program_id(), any), cols)), 1) << "rows begin anywhere";
  EXPECT_EQ(of(b.add(b.add(b.mul(b.program_id(), four), cols), b.integer(2))), 2);
}

TEST_F(DivisibilityTest, ConstantsInTilesFold) {
  EXPECT_EQ(of(b.add(b.add(cols, b.integer(6)), b.integer(2))), 8);
  EXPECT_EQ(of(b.add(b.add(cols, any), b.mul(any, b.integer(-1)))), 1) << "products are atoms";
  EXPECT_EQ(of(b.mul(b.add(cols, b.integer(3)), four)), 4);
}

// Rows of `any` elements, cut where they reach a multiple of 8.
TEST_F(DivisibilityTest, WhatIsLeftWithoutARemainderIsAMultipleOfTheDivisor) {
  const ValueId row = b.mul(b.program_id(), any);
  const ValueId cut = b.sub(cols, b.modulo(row, b.integer(8)));
  EXPECT_EQ(of(b.add(cut, row)), 8);
  EXPECT_EQ(of(b.add(b.add(cut, row), four)), 4);
  EXPECT_EQ(of(cut), 1) << "an operand that all rows share begins anywhere";
  EXPECT_EQ(of(b.add(cut, b.mul(b.program_id(), b.add_scalar("other", DType::i64)))), 1);
  EXPECT_EQ(of(b.add(b.add(cols, b.modulo(row, b.integer(8))), row)), 1) << "added, not subtracted";
  EXPECT_EQ(of(b.add(b.sub(cols, b.modulo(row, b.integer(6))), row)), 1) << "not a power of two";
}

TEST_F(DivisibilityTest, RowsOfATileHaveRemaindersOfTheirOwn) {
  const ValueId row = b.add(b.mul(b.program_id(), any), b.mul(rows, any));
  const ValueId cut = b.sub(cols, b.modulo(row, b.integer(4)));
  EXPECT_EQ(of(b.add(cut, row)), 4);
  EXPECT_EQ(of(b.add(cut, b.mul(rows, any))), 1) << "another program's rows";
  EXPECT_EQ(of(cut), 1);
}

TEST_F(DivisibilityTest, AlongRowsTheColumnsCountByOne) {
  const ValueId transposed = b.add(b.mul(cols, four), rows);
  EXPECT_EQ(of(transposed, Axis::rows), 4);
  EXPECT_EQ(of(rows, Axis::rows), Divisibility::kMost);
  EXPECT_EQ(of(cols, Axis::rows), 1);
}

TEST_F(DivisibilityTest, AMaskTurnsOffAtMultiplesOfItsLimit) {
  EXPECT_EQ(of(b.pointwise(Op::lt, {cols, four})), 4);
  EXPECT_EQ(of(b.pointwise(Op::lt, {cols, any})), 1);
  const auto tiles_below = [&](ValueId first) {
    return b.pointwise(Op::lt, {b.add(b.mul(b.program_id(), first), cols), four});
  };
  EXPECT_EQ(of(tiles_below(b.integer(64))), 4);
  EXPECT_EQ(of(tiles_below(any)), 1) << "tiles begin anywhere";
  const ValueId row_mask = b.pointwise(Op::lt, {rows, any});
  EXPECT_EQ(of(row_mask), Divisibility::kMost) << "the same for all columns";
  EXPECT_EQ(of(b.pointwise(Op::logical_and, {row_mask, b.pointwise(Op::lt, {cols, four})})), 4);
}

TEST_F(DivisibilityTest, LoopCountersKeepCommonDivisorsOfStartAndStep) {
  ValueId counted = 0;
  ValueId carried = 0;
  b.loop(b.integer(0), any, b.integer(8), std::vector{b.integer(16)},
         [&](ValueId i, std::span<const ValueId> values) {
           counted = i;
           carried = values[0];
           return std::vector{b.add(values[0], b.integer(1))};
         });
  EXPECT_EQ(of(counted), 8);
  EXPECT_EQ(of(carried), 1) << "what it carries stays unknown";
}

}  // namespace
}  // namespace sinter
