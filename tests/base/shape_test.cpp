// Shape: inline sizes with a limit on their number.
#include <gtest/gtest.h>
#include <sinter/error.h>
#include <sinter/shape.h>

#include <array>
#include <sstream>
#include <vector>

namespace sinter {
namespace {

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(Shape({2, 3, 4}).numel(), 24);
  EXPECT_EQ(Shape().numel(), 1) << "a scalar has one element";
  EXPECT_EQ(Shape({5, 0}).numel(), 0);
}

TEST(ShapeTest, ComesFromContiguousRanges) {
  const std::vector<std::int64_t> sizes{2, 3};
  const Shape converted = sizes;
  EXPECT_EQ(converted, Shape({2, 3}));
  EXPECT_EQ(Shape(std::array<std::int64_t, 1>{4}), Shape({4}));
  EXPECT_EQ(Shape(std::vector<std::int64_t>{}), Shape());
  EXPECT_THROW(Shape(std::vector<std::int64_t>(9, 1)), UserError);
}

TEST(ShapeTest, PrintsIntoStreams) {
  std::ostringstream out;
  out << Shape({4, 8});
  EXPECT_EQ(out.str(), "(4, 8)");
}

TEST(ShapeTest, InsertAndEraseShiftTheRest) {
  Shape shape{2, 4};
  shape.insert(1, 3);
  EXPECT_EQ(shape, Shape({2, 3, 4}));
  shape.insert(3, 5);
  EXPECT_EQ(shape.back(), 5);
  shape.erase(0);
  EXPECT_EQ(shape, Shape({3, 4, 5}));
  shape.erase(2);
  EXPECT_EQ(shape, Shape({3, 4}));
}

TEST(ShapeTest, ComparesRankAndSizes) {
  EXPECT_NE(Shape({2, 3}), Shape({2, 3, 1}));
  EXPECT_NE(Shape({2, 3}), Shape({3, 2}));
  Shape erased{2, 3, 9};
  erased.erase(2);
  EXPECT_EQ(erased, Shape({2, 3})) << "what was erased does not count";
}

TEST(ShapeTest, FilledRepeatsOneSize) { EXPECT_EQ(Shape::filled(3, 7), Shape({7, 7, 7})); }

TEST(ShapeTest, MoreThanEightDimensionsAreAUserError) {
  const std::vector<std::int64_t> sizes(9, 1);
  EXPECT_EQ(Shape(std::span(sizes).first(8)).rank(), kMaxRank);
  try {
    const Shape shape{std::span<const std::int64_t>(sizes)};
    FAIL() << to_string(shape);
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "[shape] tensors have at most 8 dimensions");
  }
}

TEST(ShapeTest, PrintsLikeATuple) {
  EXPECT_EQ(to_string(Shape({4, 8})), "(4, 8)");
  EXPECT_EQ(to_string(Shape({4})), "(4)");
  EXPECT_EQ(to_string(Shape()), "()");
}

}  // namespace
}  // namespace sinter
