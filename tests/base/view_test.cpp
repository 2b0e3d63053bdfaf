// View algebra, checked by enumerating every index.
#include "src/base/view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "tests/support/graph_reference.h"

namespace sinter {
namespace {

using testing_support::offsets_of;

View view_of(const Shape& shape, const Strides& strides, std::int64_t offset = 0) {
  return {shape, strides, offset};
}

// A view of a dense buffer made by a few random slices, permutations, expansions and unit axes.
View random_view(std::mt19937& random, int steps) {
  auto pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  Shape shape;
  for (int i = pick(0, 3); i > 0; --i) shape.push_back(pick(1, 5));
  View view = dense_view(shape);
  for (int s = 0; s < steps; ++s) {
    const int rank = view.shape.rank();
    switch (pick(0, 5)) {
      case 0: {
        Shape axes = Shape::filled(rank, 0);
        for (int i = 0; i < rank; ++i) axes[i] = i;
        std::shuffle(&axes[0], &axes[0] + rank, random);
        view = permute(view, axes);
        break;
      }
      case 1: {
        if (rank == 0) break;
        const int axis = pick(0, rank - 1);
        const int size = static_cast<int>(view.shape[axis]);
        if (size == 0) break;
        const int start = pick(0, size - 1);
        const int step = pick(1, 3);
        view = slice(view, axis, start, pick(0, 9) ? (size - start + step - 1) / step : 0, step);
        break;
      }
      case 2:
        if (rank < 5) view = insert_axis(view, pick(0, rank));
        break;
      case 3: {
        if (rank >= 5) break;
        Shape target = view.shape;
        for (int i = 0; i < rank; ++i)
          if (target[i] == 1 && pick(0, 1)) target[i] = pick(1, 3);
        if (pick(0, 1)) target.insert(0, pick(1, 3));
        view = expand(view, target);
        break;
      }
      case 4: {  // backwards
        if (rank == 0) break;
        const int axis = pick(0, rank - 1);
        if (view.shape[axis] == 0) break;
        view.offset += (view.shape[axis] - 1) * view.strides[axis];
        view.strides[axis] = -view.strides[axis];
        break;
      }
      default:
        for (int i = rank - 1; i >= 0; --i)
          if (view.shape[i] == 1 && pick(0, 1)) view = remove_axis(view, i);
    }
  }
  return view;
}

TEST(ViewTest, RowMajorStridesCountElementsBehindAnAxis) {
  EXPECT_EQ(row_major({2, 3, 4}), Strides({12, 4, 1}));
  EXPECT_EQ(row_major({}), Strides());
  EXPECT_EQ(row_major({5}), Strides({1}));
}

TEST(ViewTest, DenseIgnoresStridesOfSingleElements) {
  EXPECT_TRUE(is_dense(view_of({2, 1, 3}, {3, 99, 1})));
  EXPECT_TRUE(is_dense(view_of({2, 3}, {3, 1}, 7)));
  EXPECT_FALSE(is_identity(view_of({2, 3}, {3, 1}, 7)));
  EXPECT_FALSE(is_dense(view_of({2, 3}, {1, 2})));
  EXPECT_FALSE(is_dense(view_of({2, 3}, {0, 1})));
  EXPECT_TRUE(is_dense(view_of({2, 0}, {17, 5}))) << "nothing lies in the wrong place";
}

TEST(ViewTest, PermuteMovesSizesWithStrides) {
  EXPECT_EQ(permute(dense_view({2, 3, 4}), {2, 0, 1}), view_of({4, 2, 3}, {1, 12, 4}));
}

TEST(ViewTest, SliceMovesTheOffset) {
  EXPECT_EQ(slice(dense_view({4, 6}), 1, 1, 3, 2), view_of({4, 3}, {6, 2}, 1));
  EXPECT_EQ(slice(view_of({4}, {-5}, 15), 0, 1, 2, 2), view_of({2}, {-10}, 10));
}

TEST(ViewTest, ReversedStartsAtTheEndOfItsAxes) {
  const View view = reversed(dense_view({2, 3, 1}), 0b111);
  EXPECT_EQ(view, view_of({2, 3, 1}, {-3, -1, 1}, 5));
  EXPECT_TRUE(has_negative_strides(view));
  EXPECT_FALSE(has_negative_strides(view_of({1, 3}, {-3, 1}, 0))) << "one element has no direction";
  EXPECT_EQ(reversed(view, 0b011), dense_view({2, 3, 1}));
}

TEST(ViewTest, ComposeTakesNumbersBackwards) {
  // A number repeated to a shape is one axis of stride 0.
  EXPECT_TRUE(compose(reversed(dense_view({3, 4}), 0b11), expand(dense_view({}), {3, 4})));
  EXPECT_TRUE(compose(reversed(dense_view({3, 4}), 0b01), view_of({3, 4}, {1, 8})));
}

TEST(ViewTest, ExpandRepeatsSingleElementsAndNewAxes) {
  EXPECT_EQ(expand(dense_view({3, 1}), {2, 3, 4}), view_of({2, 3, 4}, {0, 1, 0}));
  EXPECT_EQ(expand(dense_view({}), {2, 2}), view_of({2, 2}, {0, 0}));
}

TEST(ViewTest, InsertedAxisCanBeRemoved) {
  const View view = view_of({2, 3}, {1, 2}, 4);
  EXPECT_EQ(insert_axis(view, 1), view_of({2, 1, 3}, {1, 0, 2}, 4));
  EXPECT_EQ(remove_axis(insert_axis(view, 1), 1), view);
}

TEST(ViewTest, ReshapeSplitsAndJoinsRowMajorRuns) {
  EXPECT_EQ(*reshape(dense_view({6, 4}), {2, 3, 2, 2}), dense_view({2, 3, 2, 2}));
  // Rows of 4 out of 8 columns: rows stay separate, inside them anything is possible.
  EXPECT_EQ(*reshape(view_of({6, 4}, {8, 1}), {2, 3, 2, 2}), view_of({2, 3, 2, 2}, {24, 8, 2, 1}));
  EXPECT_EQ(*reshape(view_of({2, 3}, {0, 1}), {2, 1, 3}), view_of({2, 1, 3}, {0, 3, 1}));
}

TEST(ViewTest, ReshapeAcrossAGapIsImpossible) {
  EXPECT_FALSE(reshape(view_of({6, 4}, {8, 1}), {24}));
  EXPECT_FALSE(reshape(view_of({2, 3}, {1, 2}), {6})) << "a transpose does not flatten";
  EXPECT_FALSE(reshape(view_of({2, 3}, {0, 1}), {6})) << "repeated rows do not flatten";
  EXPECT_FALSE(reshape(view_of({6, 4}, {8, 1}), {3, 8}));
}

TEST(ViewTest, ReshapeOfNothingIsAlwaysPossible) {
  EXPECT_EQ(reshape(view_of({0, 3}, {1, 7}), {5, 0})->shape, Shape({5, 0}));
}

TEST(ViewTest, ReshapeKeepsElementsInOrder) {
  std::mt19937 random(1);
  int possible = 0;
  for (int round = 0; round < 4000; ++round) {
    const View view = random_view(random, 4);
    // Another factorization of the same number of elements.
    Shape target;
    std::int64_t rest = view.shape.numel();
    while (rest > 1 && target.rank() < 4) {
      std::vector<std::int64_t> divisors;
      for (std::int64_t d = 1; d <= rest; ++d)
        if (rest % d == 0) divisors.push_back(d);
      target.push_back(divisors[random() % divisors.size()]);
      rest /= target.back();
    }
    target.push_back(rest);
    const auto reshaped = reshape(view, target);
    if (!reshaped) continue;
    ++possible;
    ASSERT_EQ(reshaped->shape, target);
    ASSERT_EQ(offsets_of(*reshaped), offsets_of(view))
        << to_string(view) << " as " << to_string(target);
  }
  EXPECT_GT(possible, 1000);
}

TEST(ViewTest, ReshapeToItsOwnShapeIsAlwaysPossible) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    const View view = random_view(random, 5);
    const auto same = reshape(view, view.shape);
    ASSERT_TRUE(same) << to_string(view);
    ASSERT_EQ(offsets_of(*same), offsets_of(view));
  }
}

TEST(ViewTest, MergeAxesKeepsElementsInOrder) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const View view = random_view(random, 5);
    const View merged = merge_axes(view);
    ASSERT_EQ(offsets_of(merged), offsets_of(view)) << to_string(view);
    ASSERT_LE(merged.shape.rank(), view.shape.rank());
  }
  EXPECT_EQ(merge_axes(dense_view({2, 3, 4})), dense_view({24}));
  EXPECT_EQ(merge_axes(view_of({2, 3, 4}, {0, 0, 0})), view_of({24}, {0}));
}

TEST(ViewTest, ComposeLooksThroughBothViews) {
  std::mt19937 random(4);
  int possible = 0;
  for (int round = 0; round < 20000; ++round) {
    const View inner = random_view(random, 4);
    // An outer view over inner's row-major elements: a view of a tensor of inner's shape.
    View outer = dense_view(inner.shape);
    if (random() % 2) {
      Shape axes = Shape::filled(outer.shape.rank(), 0);
      for (int i = 0; i < axes.rank(); ++i) axes[i] = i;
      std::shuffle(&axes[0], &axes[0] + axes.rank(), random);
      outer = permute(outer, axes);
    }
    if (outer.shape.rank() > 0 && random() % 2) {
      const int axis = static_cast<int>(random() % static_cast<unsigned>(outer.shape.rank()));
      const std::int64_t size = outer.shape[axis];
      if (size > 1) outer = slice(outer, axis, 1, size / 2, size > 4 ? 2 : 1);
    }
    if (random() % 3 == 0) outer = insert_axis(outer, 0);
    if (random() % 3 == 0 && outer.shape.rank() < 6) {
      Shape target = outer.shape;
      target.insert(0, 2);
      outer = expand(outer, target);
    }
    if (random() % 3 == 0)
      if (auto flat = reshape(outer, {outer.shape.numel()})) outer = *flat;
    if (random() % 3 == 0) outer = reversed(outer, random() % 64);
    const auto composed = compose(outer, inner);
    if (!composed) continue;
    ++possible;
    const std::vector<std::int64_t> inner_offsets = offsets_of(inner);
    std::vector<std::int64_t> expected;
    for (std::int64_t position : offsets_of(outer))
      expected.push_back(inner_offsets.at(static_cast<std::size_t>(position)));
    ASSERT_EQ(composed->shape, outer.shape);
    ASSERT_EQ(offsets_of(*composed), expected) << to_string(outer) << " of " << to_string(inner);
  }
  EXPECT_GT(possible, 15000) << "views of views are nearly always views";
}

TEST(ViewTest, ComposeWithAnUnchangedViewIsAlwaysPossible) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const View inner = random_view(random, 5);
    const auto composed = compose(dense_view(inner.shape), inner);
    ASSERT_TRUE(composed) << to_string(inner);
    ASSERT_EQ(offsets_of(*composed), offsets_of(inner));
  }
}

TEST(ViewTest, ComposeRefusesWhatNeedsACopy) {
  // Flattening a transpose would need two strides in one axis.
  EXPECT_FALSE(compose(dense_view({6}), view_of({2, 3}, {1, 2})));
  // Backwards over a gap.
  EXPECT_FALSE(compose(view_of({6}, {-1}, 5), view_of({2, 3}, {8, 1})));
}

TEST(ViewTest, DistinctElementsCountsBroadcastOnce) {
  EXPECT_EQ(distinct_elements(dense_view({4, 5})), 20);
  EXPECT_EQ(distinct_elements(view_of({4, 5}, {0, 1})), 5);
  EXPECT_EQ(distinct_elements(view_of({4, 5}, {0, 0})), 1);
  EXPECT_EQ(distinct_elements(view_of({4, 0}, {0, 0})), 0);
  std::mt19937 random(6);
  for (int round = 0; round < 2000; ++round) {
    const View view = random_view(random, 5);
    const auto offsets = offsets_of(view);
    ASSERT_EQ(distinct_elements(view),
              static_cast<std::int64_t>(std::set(offsets.begin(), offsets.end()).size()))
        << to_string(view);
  }
}

TEST(ViewTest, ExtentIsTheRangeOfOffsets) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const View view = random_view(random, 5);
    const auto offsets = offsets_of(view);
    const Extent range = extent(view);
    if (offsets.empty()) {
      ASSERT_LT(range.last, range.first);
      continue;
    }
    ASSERT_EQ(range.first, *std::min_element(offsets.begin(), offsets.end())) << to_string(view);
    ASSERT_EQ(range.last, *std::max_element(offsets.begin(), offsets.end())) << to_string(view);
  }
}

TEST(ViewTest, PrintsAllThreeParts) {
  EXPECT_EQ(to_string(view_of({2, 3}, {1, 2}, 4)), "(2, 3) strides (1, 2) offset 4");
}

TEST(ViewTest, SameAccessIgnoresStridesOfSingleElements) {
  EXPECT_TRUE(same_access({{1, 6}, {99, 1}, 0}, {{1, 6}, {6, 1}, 0}));
  EXPECT_FALSE(same_access({{1, 6}, {6, 1}, 1}, {{1, 6}, {6, 1}, 0}));
  EXPECT_FALSE(same_access({{2, 6}, {1, 2}, 0}, {{2, 6}, {6, 1}, 0}));
}

}  // namespace
}  // namespace sinter
