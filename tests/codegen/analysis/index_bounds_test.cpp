#include "src/codegen/analysis/index_bounds.h"

#include <gtest/gtest.h>

#include <limits>

#include "src/tile/parse.h"

namespace sinter {
namespace {

const tile::TileProgram& program() {
  static const tile::TileProgram parsed = tile::parse_tile_program(R"(kernel bounds
  scalar length: i64 at least 257
  scalar size: i64 positive
  scalar stride: i64
  %0: i64 = scalar length
  %1: i64 = scalar size
  %2: i64 = scalar stride
  %3: i64 = constant 8
  %4: i64 = remainder %2, %3
)");
  return parsed;
}
const Index kLength = Index::of(0);
const Index kSize = Index::of(1);
const Index kStride = Index::of(2);
const Index kFirst = Index::of(4);

TEST(IndexBoundsTest, FollowFromWhatScalarsPromiseAndFromRemainders) {
  const IndexBounds bounds(program(), IndexAnalysis(program(), IndexForms::atoms));
  EXPECT_EQ(bounds.least(kLength), 257);
  EXPECT_EQ(bounds.most(kLength), std::nullopt);
  EXPECT_EQ(bounds.least(kSize), 1);
  EXPECT_EQ(bounds.most(kSize), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(bounds.least(kFirst), 0);
  EXPECT_EQ(bounds.most(kFirst), 7);
  EXPECT_EQ(bounds.least(kStride), std::nullopt);
}

TEST(IndexBoundsTest, OfSumsAreSums) {
  const IndexBounds bounds(program(), IndexAnalysis(program(), IndexForms::atoms));
  EXPECT_EQ(bounds.least(kLength + kFirst + Index(3)), 260);
  EXPECT_EQ(bounds.least(kLength - kFirst), 250) << "a difference is least at the most";
  EXPECT_EQ(bounds.most(Index(10) - Index(2) * kLength), 10 - 2 * 257);
  EXPECT_EQ(bounds.least(kLength + kStride), std::nullopt);
  EXPECT_EQ(bounds.least(kLength * kSize), std::nullopt) << "products are not bounded";
  const Index huge = Index(std::numeric_limits<std::int64_t>::max()) * kLength;
  EXPECT_EQ(bounds.least(huge), std::nullopt) << "nor what overflows";
}

}  // namespace
}  // namespace sinter
