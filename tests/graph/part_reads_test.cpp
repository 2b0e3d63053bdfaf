// What views of concats show, against the elements of the concat.
#include "src/graph/part_reads.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

using testing_support::GraphMaker;

// Element numbers: those of part p begin at 1000 * p.
std::vector<std::int64_t> shown(const VisibleParts& visible, const View& view) {
  std::vector<std::int64_t> result;
  Shape index = Shape::filled(view.shape.rank(), 0);
  for (std::int64_t n = view.shape.numel(); n > 0; --n) {
    std::size_t part = 0;
    for (std::size_t i = 1; i < visible.parts.size(); ++i)
      if (index[visible.axis] >= visible.parts[i].first) part = i;
    const Operand& seen = visible.parts[part].seen;
    std::int64_t at = seen.view.offset + 1000 * seen.node;
    for (int i = 0; i < index.rank(); ++i) {
      if (seen.view.window) {
        EXPECT_GE(index[i], seen.view.window->first[i]) << to_string(seen.view);
        EXPECT_LT(index[i], seen.view.window->last[i]) << to_string(seen.view);
      }
      at += index[i] * seen.view.strides[i];
    }
    result.push_back(at);
    for (int i = index.rank() - 1; i >= 0 && ++index[i] == view.shape[i]; --i) index[i] = 0;
  }
  return result;
}

class PartReads : public testing::Test {
 protected:
  // Parts of 3, 2 and 4 columns.
  PartReads() {
    joined_ = maker_.concat({maker_.input({5, 3}), maker_.input({5, 2}), maker_.input({5, 4})}, 1);
  }
  const Node& concat() const { return maker_.graph[joined_.node]; }

  std::vector<std::int64_t> expected(const View& view) const {
    std::vector<std::int64_t> elements;
    for (int row = 0; row < 5; ++row)
      for (int col = 0; col < 9; ++col)
        elements.push_back(col < 3   ? row * 3 + col
                           : col < 5 ? 1000 + row * 2 + col - 3
                                     : 2000 + row * 4 + col - 5);
    std::vector<std::int64_t> result;
    Shape index = Shape::filled(view.shape.rank(), 0);
    for (std::int64_t n = view.shape.numel(); n > 0; --n) {
      std::int64_t at = view.offset;
      for (int i = 0; i < index.rank(); ++i) at += index[i] * view.strides[i];
      result.push_back(elements[static_cast<std::size_t>(at)]);
      for (int i = index.rank() - 1; i >= 0 && ++index[i] == view.shape[i]; --i) index[i] = 0;
    }
    return result;
  }

  GraphMaker maker_;
  Operand joined_;
};

TEST_F(PartReads, ShowEveryElementThroughAnyView) {
  const View whole = dense_view({5, 9});
  const View views[] = {whole,
                        slice(whole, 1, 2, 6, 1),
                        slice(whole, 1, 1, 4, 2),
                        reversed(whole, 2),
                        permute(slice(whole, 0, 1, 3, 1), {1, 0}),
                        reversed(slice(whole, 1, 0, 3, 4), 3),
                        insert_axis(whole, 1),
                        expand(slice(whole, 0, 2, 1, 1), {4, 9})};
  for (const View& view : views) {
    const auto visible = visible_parts(concat(), view);
    ASSERT_TRUE(visible) << to_string(view);
    EXPECT_EQ(shown(*visible, view), expected(view)) << to_string(view);
  }
}

TEST_F(PartReads, LeaveOutPartsThatAreNotSeen) {
  const View whole = dense_view({5, 9});
  const auto last = visible_parts(concat(), slice(whole, 1, 5, 3, 1));
  ASSERT_TRUE(last);
  ASSERT_EQ(last->parts.size(), 1u);
  EXPECT_EQ(last->axis, -1);
  EXPECT_FALSE(last->parts[0].seen.view.is_padded());
  const auto column = visible_parts(concat(), remove_axis(slice(whole, 1, 4, 1, 1), 1));
  ASSERT_TRUE(column);
  ASSERT_EQ(column->parts.size(), 1u);
  EXPECT_EQ(column->parts[0].seen.node, 1);
}

TEST_F(PartReads, MayBePadded) {
  const View padded = *pad(dense_view({5, 9}), 1, 2, 1, Scalar::of(0.0));
  const auto visible = visible_parts(concat(), padded);
  ASSERT_TRUE(visible);
  ASSERT_EQ(visible->parts.size(), 3u);
  EXPECT_EQ(visible->parts[0].first, 2);
  EXPECT_EQ(visible->parts[1].first, 5);
  EXPECT_EQ(visible->parts[2].first, 7);
}

TEST_F(PartReads, RefuseViewsThatMixColumnsAndRows) {
  EXPECT_FALSE(visible_parts(concat(), dense_view({45})));
  EXPECT_FALSE(visible_parts(concat(), View{{5}, {10}, 0})) << "a diagonal";
}

}  // namespace
}  // namespace sinter
