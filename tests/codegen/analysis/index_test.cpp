// Symbolic index expressions: folding, equality and dependences.
#include "src/codegen/analysis/index.h"

#include <gtest/gtest.h>

#include <limits>

namespace sinter {
namespace {

const Index a = Index::of(1);
const Index b = Index::of(2);
const Index s = Index::of(3);

TEST(IndexTest, ConstantsFold) {
  EXPECT_TRUE(Index().is_zero());
  EXPECT_EQ(Index().constant(), 0);
  EXPECT_EQ((Index(3) * Index(4) - Index(2)).constant(), 10);
  EXPECT_TRUE((Index(3) - Index(2)).is_one());
  EXPECT_EQ(a.constant(), std::nullopt);
  EXPECT_EQ((a + Index(1)).constant(), std::nullopt);
}

TEST(IndexTest, AddingZeroAndMultiplyingByOneChangeNothing) {
  EXPECT_EQ(a + Index(), a);
  EXPECT_EQ(a * Index(1), a);
  EXPECT_TRUE((a * Index()).is_zero());
}

TEST(IndexTest, LikeTermsJoinAndCancel) {
  EXPECT_EQ(a + a, a * Index(2));
  EXPECT_TRUE((a - a).is_zero());
  EXPECT_EQ(a + b - a, b);
  EXPECT_EQ((a + b) * s - s * b, s * a);
}

TEST(IndexTest, OrderDoesNotMatter) {
  EXPECT_EQ(a + b, b + a);
  EXPECT_EQ(a * b * s, s * a * b);
  EXPECT_EQ(a * s + b, b + s * a);
  EXPECT_EQ((a + b) * s, b * s + a * s);
}

TEST(IndexTest, DifferentPolynomialsDiffer) {
  EXPECT_NE(a, b);
  EXPECT_NE(a, a + Index(1));
  EXPECT_NE(a, a * Index(2));
  EXPECT_NE(a * a, a);
  EXPECT_NE(a * a * b, a * b * b);
  EXPECT_NE(a + b, a - b);
}

TEST(IndexTest, ProductsMultiplyOut) {
  EXPECT_EQ((a + b) * (a - b), a * a - b * b);
  EXPECT_EQ((a + Index(3)) * Index(4), a * Index(4) + Index(12));
}

TEST(IndexTest, DependsOnTheScalarsThatAreLeft) {
  const Index index = a * s + b;
  EXPECT_TRUE(index.depends_on(1));
  EXPECT_TRUE(index.depends_on(2));
  EXPECT_TRUE(index.depends_on(3));
  EXPECT_FALSE(index.depends_on(4));
  EXPECT_FALSE((index - b).depends_on(2)) << "it has cancelled out";
}

TEST(IndexTest, OverflowWrapsAround) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((Index(most) + Index(1)).constant(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ((Index(most) * Index(2)).constant(), -2);
}

}  // namespace
}  // namespace sinter
