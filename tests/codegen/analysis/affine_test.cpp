// Index tiles: what is recognised as affine, what as a prefix mask, and what is not.
#include "src/codegen/analysis/affine.h"

#include <gtest/gtest.h>

#include "src/codegen/value_names.h"
#include "src/tile/builder.h"

namespace sinter {
namespace {

using tile::Axis;
using tile::Builder;
using tile::ValueId;

class AffineTest : public testing::Test {
 protected:
  Builder b{"affine"};
  ValueId n = b.add_scalar("n", DType::i64);
  ValueId stride = b.add_scalar("stride", DType::i64);
  ValueId id = b.program_id();
  ValueId rows = b.arange(Axis::rows, 8);
  ValueId cols = b.arange(Axis::cols, 16);

  // "base | row step | col step", or "-" if it is not affine.
  std::string affine(ValueId value) {
    const auto& found = analysis().affine(value);
    return found ? text(found->base) + " | " + text(found->row_step) + " | " + text(found->col_step)
                 : "-";
  }
  // "row limit | col limit", or "-".
  std::string mask(ValueId value) {
    const auto& found = analysis().mask(value);
    return found ? text(found->row_limit) + " | " + text(found->col_limit) : "-";
  }
  const IndexAnalysis& analysis() { return analysis_.emplace(b.program()); }

 private:
  std::string text(const std::optional<Index>& index) const {
    return index ? ValueNames(b.program(), {}).text(*index) : "";
  }

  std::optional<IndexAnalysis> analysis_;
};

TEST_F(AffineTest, RangesStepByOne) {
  EXPECT_EQ(affine(rows), "0 | 1 | 0");
  EXPECT_EQ(affine(cols), "0 | 0 | 1");
}

TEST_F(AffineTest, ScalarsAreTheirName) { EXPECT_EQ(affine(n), "n_ | 0 | 0"); }

TEST_F(AffineTest, SumsAndProductsWithScalarsStayAffine) {
  const ValueId start = b.mul(id, n);
  const ValueId at = b.add(b.mul(b.add(rows, start), stride), cols);
  const std::string start_name = "v" + std::to_string(start);
  EXPECT_EQ(affine(at), start_name + " * stride_ | stride_ | 1");
}

TEST_F(AffineTest, ConstantsFold) {
  const ValueId at = b.add(b.mul(b.add(cols, b.integer(3)), b.integer(4)), b.integer(-2));
  EXPECT_EQ(affine(at), "10 | 0 | 4");
  EXPECT_EQ(affine(b.mul(rows, b.pointwise(Op::add, {b.integer(0), n}))).substr(0, 4), "0 | ");
  EXPECT_EQ(affine(b.arange(Axis::cols, 1)), "0 | 0 | 0");
}

TEST_F(AffineTest, AParameterIsTheSameEverywhere) {
  const ValueId again = b.program_id();
  const ValueId here = b.pointwise(Op::lt, {b.add(cols, id), n});
  const ValueId there = b.pointwise(Op::lt, {b.add(cols, again), n});
  const IndexAnalysis& found = analysis();
  EXPECT_EQ(*found.mask(here)->col_limit, *found.mask(there)->col_limit);
}

TEST_F(AffineTest, SumsInAnotherOrderAreTheSameLimit) {
  const ValueId one = b.pointwise(Op::lt, {b.add(b.add(cols, id), stride), n});
  const ValueId other = b.pointwise(Op::lt, {b.add(b.add(cols, stride), id), n});
  const IndexAnalysis& found = analysis();
  EXPECT_EQ(*found.mask(one)->col_limit, *found.mask(other)->col_limit);
}

TEST_F(AffineTest, ProductsOfTilesAreNot) {
  const ValueId product = b.mul(rows, cols);
  EXPECT_EQ(affine(product), "-");
  EXPECT_FALSE(analysis().is_index(product));
}

TEST_F(AffineTest, DifferencesAre) {
  EXPECT_EQ(affine(b.sub(cols, n)), "-n_ | 0 | 1");
  EXPECT_EQ(affine(b.sub(n, rows)), "n_ | -1 | 0");
}

// Rows of n elements: each has a remainder of its own, which is a variable of the text.
TEST_F(AffineTest, RemaindersOfRowsAreAtomsWhereRangesAreWanted) {
  const ValueId before = b.modulo(b.mul(rows, n), b.integer(8));
  const ValueId at = b.sub(cols, before);
  const ValueId from = b.pointwise(Op::ge, {at, b.integer(0)});
  const ValueId inside = b.pointwise(Op::logical_and, {from, b.pointwise(Op::lt, {at, n})});
  EXPECT_FALSE(analysis().affine(at));
  const IndexAnalysis ranges(b.program(), IndexForms::atoms);
  EXPECT_TRUE(ranges.is_row_atom(before));
  EXPECT_FALSE(ranges.is_index(before)) << "it is computed";
  ASSERT_TRUE(ranges.is_index(at));
  EXPECT_TRUE(ranges.has_atoms(ranges.affine(at)->base));
  ASSERT_TRUE(ranges.mask(inside));
  EXPECT_EQ(*ranges.mask(inside)->col_first, Index::of(before));
  EXPECT_EQ(*ranges.mask(inside)->col_limit - *ranges.mask(inside)->col_first, Index::of(n));
  EXPECT_FALSE(analysis().mask(inside)) << "loops of CPU kernels begin at 0";
}

// Columns of an axis that was merged from two: a vector does not cross from one to the next.
TEST_F(AffineTest, QuotientsOfColumnsByMultiplesOfTheVectorAreAtoms) {
  b.set_mapping({.vector = 4});
  const ValueId even = b.add_scalar({.name = "even", .multiple_of = 4});
  const ValueId outer = b.quotient(cols, even);
  const ValueId at = b.add(cols, b.mul(outer, stride));
  const ValueId crossing = b.quotient(cols, n);
  const IndexAnalysis ranges(b.program(), IndexForms::atoms);
  EXPECT_TRUE(ranges.is_vector_atom(outer));
  EXPECT_FALSE(ranges.is_vector_atom(crossing));
  ASSERT_TRUE(ranges.is_index(at));
  EXPECT_EQ(ranges.affine(at)->base, Index::of(outer) * Index::of(stride));
  EXPECT_TRUE(ranges.affine(at)->col_step.is_one());
  EXPECT_TRUE(ranges.has_atoms(ranges.affine(at)->base));
  EXPECT_FALSE(analysis().affine(at)) << "CPU kernels have no vector of fixed size";
}

TEST_F(AffineTest, OtherOperationsAreNot) {
  EXPECT_EQ(affine(b.modulo(cols, n)), "-");
  EXPECT_EQ(affine(b.pointwise(Op::maximum, {cols, n})), "-");
}

TEST_F(AffineTest, LoadedOffsetsAreNot) {
  const int x = b.add_buffer("x", DType::i64, false);
  EXPECT_EQ(affine(b.load(x, cols, tile::kNoValue, tile::kNoValue)), "-");
}

TEST_F(AffineTest, PositionsBelowAScalarAreAPrefix) {
  EXPECT_EQ(mask(b.pointwise(Op::lt, {cols, n})), " | n_");
  EXPECT_EQ(mask(b.pointwise(Op::lt, {rows, n})), "n_ | ");
  EXPECT_EQ(mask(b.pointwise(Op::lt, {b.add(cols, id), n})), " | n_ - program");
}

TEST_F(AffineTest, PrefixesAlongBothAxesJoin) {
  const ValueId down = b.pointwise(Op::lt, {rows, n});
  const ValueId across = b.pointwise(Op::lt, {cols, stride});
  EXPECT_EQ(mask(b.pointwise(Op::logical_and, {down, across})), "n_ | stride_");
}

TEST_F(AffineTest, TwoLimitsOfOneAxisDoNotJoin) {
  const ValueId a = b.pointwise(Op::lt, {cols, n});
  const ValueId c = b.pointwise(Op::lt, {cols, stride});
  EXPECT_EQ(mask(b.pointwise(Op::logical_and, {a, c})), "-");
}

TEST_F(AffineTest, OtherMasksAreNoPrefix) {
  EXPECT_EQ(mask(b.pointwise(Op::ge, {cols, n})), "-");
  EXPECT_EQ(mask(b.pointwise(Op::lt, {n, cols})), "-");
  EXPECT_EQ(mask(b.pointwise(Op::lt, {b.mul(cols, stride), n})), "-");
  EXPECT_EQ(mask(b.pointwise(Op::lt, {b.add(cols, rows), n})), "-") << "a diagonal";
  const ValueId a = b.pointwise(Op::lt, {cols, n});
  EXPECT_EQ(mask(b.pointwise(Op::logical_or, {a, a})), "-");
  EXPECT_EQ(mask(b.pointwise(Op::logical_not, {a})), "-");
}

TEST_F(AffineTest, OnlyTilesCountAsIndex) {
  EXPECT_FALSE(analysis().is_index(n));
  EXPECT_TRUE(analysis().is_index(cols));
  const ValueId a = b.pointwise(Op::lt, {cols, n});
  EXPECT_TRUE(analysis().is_index(a));
}

}  // namespace
}  // namespace sinter
