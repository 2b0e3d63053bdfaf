// The table's data about each reduction.
#include "src/graph/reduction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sinter {
namespace {

TEST(Reductions, IdentitiesAreOfTheDType) {
  EXPECT_EQ(identity_of(ReduceKind::sum, DType::f32), Scalar::of(0.0));
  EXPECT_EQ(identity_of(ReduceKind::prod, DType::i64), Scalar::of(std::int64_t{1}));
  EXPECT_EQ(identity_of(ReduceKind::max, DType::f16).real, -INFINITY);
  EXPECT_EQ(identity_of(ReduceKind::argmin, DType::f64).real, INFINITY);
  EXPECT_EQ(identity_of(ReduceKind::max, DType::i32).integer,
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(identity_of(ReduceKind::min, DType::i64).integer,
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(identity_of(ReduceKind::max, DType::boolean).integer, 0);
  EXPECT_EQ(identity_of(ReduceKind::min, DType::boolean).integer, 1);
}

TEST(Reductions, CombineWhatTheyAccumulate) {
#define SINTER_REDUCTION(name, identity, combine, dtype, finish) \
  EXPECT_NE(info(Op::combine).rule, DTypeRule::Floating) << #name;
#include <sinter/reductions.def>
#undef SINTER_REDUCTION
}

TEST(Reductions, DTypes) {
  using enum DType;
  EXPECT_EQ(reduce_dtype(ReduceKind::sum, i32), i64);
  EXPECT_EQ(reduce_dtype(ReduceKind::prod, boolean), i64);
  EXPECT_EQ(reduce_dtype(ReduceKind::sum, f16), f16);
  EXPECT_EQ(reduce_dtype(ReduceKind::max, i32), i32);
  EXPECT_EQ(reduce_dtype(ReduceKind::min, boolean), boolean);
  EXPECT_EQ(reduce_dtype(ReduceKind::argmax, f32), i64);
  EXPECT_EQ(accumulator_dtype(ReduceKind::argmax, f32), f32);
}

TEST(Reductions, PositionsHaveAValueOfTheirOwn) {
  EXPECT_EQ(value_kind(ReduceKind::argmax), ReduceKind::max);
  EXPECT_EQ(value_kind(ReduceKind::argmin), ReduceKind::min);
  EXPECT_EQ(value_kind(ReduceKind::sum), ReduceKind::sum);
}

TEST(Reductions, OnlySumsAndProductsAreDefinedForNothing) {
  EXPECT_TRUE(is_defined_for_nothing(ReduceKind::sum));
  EXPECT_TRUE(is_defined_for_nothing(ReduceKind::prod));
  EXPECT_FALSE(is_defined_for_nothing(ReduceKind::max));
  EXPECT_FALSE(is_defined_for_nothing(ReduceKind::argmin));
}

}  // namespace
}  // namespace sinter
