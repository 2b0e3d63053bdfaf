// Padded views: random chains of view functions and compositions against the elements they should
// show, with a fresh seed each time.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "src/base/view.h"

namespace sinter {
namespace {

const Scalar kFill = Scalar::of(std::int64_t{-1});
const Scalar kOtherFill = Scalar::of(std::int64_t{-2});

// The elements that a view reads from a buffer, in row-major order.
std::vector<std::int64_t> shown(const View& view, const std::vector<std::int64_t>& buffer) {
  std::vector<std::int64_t> elements;
  Shape index = Shape::filled(view.shape.rank(), 0);
  for (std::int64_t n = 0; n < view.shape.numel(); ++n) {
    std::int64_t rest = n;
    std::int64_t at = view.offset;
    bool is_inside = true;
    for (int i = view.shape.rank() - 1; i >= 0; --i) {
      index[i] = rest % view.shape[i];
      rest /= view.shape[i];
      at += index[i] * view.strides[i];
      is_inside =
          is_inside &&
          (!view.window || (index[i] >= view.window->first[i] && index[i] < view.window->last[i]));
    }
    elements.push_back(is_inside ? buffer.at(static_cast<std::size_t>(at))
                                 : view.window->fill.integer);
  }
  return elements;
}

class PaddedViews : public ::testing::Test {
 protected:
  void SetUp() override {
    const unsigned seed = std::random_device{}();
    RecordProperty("seed", static_cast<int>(seed));
    random_.seed(seed);
    for (std::int64_t i = 0; i < 400; ++i) buffer_.push_back(i);
  }

  int below(std::int64_t count) {
    return static_cast<int>(random_() % static_cast<std::uint64_t>(count));
  }

  View random_source() {
    Shape shape;
    for (int rank = 1 + below(3); rank > 0; --rank) shape.push_back(1 + below(5));
    return dense_view(shape);
  }

  // The view after one more function; unchanged if that is impossible.
  View changed(const View& view) {
    const int rank = view.shape.rank();
    const int axis = rank > 0 ? below(rank) : 0;
    switch (rank == 0 ? 4 : below(7)) {
      case 0: {
        Shape axes;
        for (int i = 0; i < rank; ++i) axes.insert(below(i + 1), i);
        return permute(view, axes);
      }
      case 1: {
        const std::int64_t size = view.shape[axis];
        const std::int64_t first = below(size);
        const std::int64_t step = below(2) ? 1 + below(2) : -1 - below(2);
        const std::int64_t most = step > 0 ? (size - 1 - first) / step : first / -step;
        return slice(view, axis, {first, 1 + below(most + 1), step});
      }
      case 2:
      case 3:
        if (view.shape.numel() > 300) return view;
        return pad(view, axis, below(3), below(3), below(5) ? kFill : kOtherFill).value_or(view);
      case 4:
        return rank < 4 ? insert_axis(view, below(rank + 1)) : view;
      case 5:
        return view.shape[axis] == 1 ? remove_axis(view, axis) : view;
      default:
        return reshaped(view);
    }
  }

  View reshaped(const View& view) {
    Shape shape;
    std::int64_t left = view.shape.numel();
    while (left > 1 && shape.rank() < 4) {
      std::int64_t size = 1 + below(left);
      while (left % size != 0) --size;
      shape.push_back(size);
      left /= size;
    }
    shape.push_back(left);
    return reshape(view, shape).value_or(view);
  }

  std::mt19937 random_;
  std::vector<std::int64_t> buffer_;
};

// Applying each function to a copy of the previous result gives the same elements as the chain.
TEST_F(PaddedViews, ChainsOfViewsEqualChainsOfCopies) {
  int padded = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    View view = random_source();
    for (int i = below(6); i >= 0; --i) {
      const auto state = random_;
      const View next = changed(view);
      if (shows_fill_only(next)) break;
      random_ = state;
      // The same function on a dense copy of the view's elements.
      const std::vector<std::int64_t> copy = shown(view, buffer_);
      const View on_copy = changed(dense_view(view.shape));
      const bool is_same_function = on_copy.shape == next.shape && !(next == view);
      EXPECT_TRUE(!is_same_function || shown(next, buffer_) == shown(on_copy, copy))
          << to_string(next);
      view = next;
      padded += view.is_padded() ? 1 : 0;
    }
  }
  EXPECT_GT(padded, 100);
}

TEST_F(PaddedViews, CompositionsShowTheSame) {
  int composed = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    View inner = random_source();
    for (int i = below(4); i > 0; --i)
      if (const View next = changed(inner); !shows_fill_only(next)) inner = next;
    View outer = dense_view(inner.shape);
    for (int i = below(4); i > 0; --i)
      if (const View next = changed(outer); !shows_fill_only(next)) outer = next;
    const auto result = compose(outer, inner);
    if (!result) continue;
    composed += result->is_padded() ? 1 : 0;
    ASSERT_EQ(shown(*result, buffer_), shown(outer, shown(inner, buffer_)))
        << to_string(outer) << " of " << to_string(inner);
    const Extent range = extent(*result);
    EXPECT_GE(range.first, 0);
    EXPECT_LT(range.last, 400);
  }
  EXPECT_GT(composed, 100);
}

TEST_F(PaddedViews, AWindowOfEverythingIsNone) {
  const View padded = *pad(dense_view({4}), 0, 2, 1, kFill);
  EXPECT_TRUE(padded.is_padded());
  EXPECT_FALSE(is_dense(padded));
  EXPECT_EQ(slice(padded, 0, 2, 4, 1), dense_view({4}));
  EXPECT_TRUE(shows_fill_only(slice(padded, 0, 0, 2, 1)));
  EXPECT_FALSE(pad(padded, 0, 1, 0, kOtherFill));
  EXPECT_FALSE(reshape(*pad(dense_view({6}), 0, 1, 1, kFill), {2, 4}));
  EXPECT_EQ(distinct_elements(padded), 4);
}

TEST_F(PaddedViews, NoneIsPaddedToOffsetsThatOverflow) {
  constexpr std::int64_t kFar = std::int64_t{1} << 47;
  const View far{{2}, {kFar}, 0};
  EXPECT_TRUE(pad(far, 0, 100, 100, kFill));
  EXPECT_FALSE(pad(far, 0, 1'000'000, 0, kFill));
  EXPECT_FALSE(pad(far, 0, 0, 1'000'000, kFill));
  EXPECT_FALSE(pad(View{{2}, {-kFar}, kFar}, 0, 1'000'000, 0, kFill));
  EXPECT_FALSE(pad(View{{2, 2}, {1, kFar}, 0}, 1, kFar, 0, kFill));
  EXPECT_TRUE(offsets_fit(*pad(dense_view({2, 3}), 0, kFar, 0, kFill)));
  // Padding once more, on the other axis or by composing views.
  const View wide = *pad(View{{2, 2}, {kFar, kFar}, 0}, 0, 400, 0, kFill);
  EXPECT_FALSE(pad(wide, 1, 400, 0, kFill));
  EXPECT_FALSE(compose(*pad(dense_view({2}), 0, 1000, 0, kFill), far));
}

}  // namespace
}  // namespace sinter
