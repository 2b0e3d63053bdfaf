// Overlap of strided memory, against the addresses of every element.
#include "src/base/overlap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace sinter {
namespace {

std::vector<std::int64_t> offsets_of(const View& view) {
  std::vector<std::int64_t> offsets;
  if (view.shape.numel() == 0) return offsets;
  offsets.push_back(0);
  for (int axis = 0; axis < view.shape.rank(); ++axis) {
    std::vector<std::int64_t> more;
    for (std::int64_t offset : offsets)
      for (std::int64_t i = 0; i < view.shape[axis]; ++i)
        more.push_back(offset + i * view.strides[axis]);
    offsets = more;
  }
  return offsets;
}

std::set<std::int64_t> bytes_of(const View& view, std::int64_t start, std::int64_t size) {
  std::set<std::int64_t> bytes;
  for (std::int64_t offset : offsets_of(view))
    for (std::int64_t i = 0; i < size; ++i) bytes.insert(start + offset * size + i);
  return bytes;
}

bool share(const std::set<std::int64_t>& a, const std::set<std::int64_t>& b) {
  for (std::int64_t byte : a)
    if (b.count(byte)) return true;
  return false;
}

const char kMemory[1 << 16] = {};

TEST(Overlap, IsExactForRandomViews) {
  std::mt19937 random(7);
  const auto any = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const auto any_view = [&] {
    View view;
    for (int axis = any(0, 3); axis > 0; --axis) {
      view.shape.push_back(any(0, 20) == 0 ? 0 : any(1, 4));
      view.strides.push_back(any(0, 12));
    }
    return view;
  };
  const int kSizes[] = {1, 2, 4, 8};
  int overlapping = 0;
  for (int i = 0; i < 20000; ++i) {
    const View a = any_view();
    const View b = any_view();
    const int size_a = kSizes[any(0, 3)];
    const int size_b = kSizes[any(0, 3)];
    const int start_a = size_a * any(0, 8);
    const int start_b = size_b * any(0, 8);
    const bool expected = share(bytes_of(a, start_a, size_a), bytes_of(b, start_b, size_b));
    overlapping += expected ? 1 : 0;
    const StridedMemory one{kMemory + start_a, &a, static_cast<std::size_t>(size_a)};
    const StridedMemory other{kMemory + start_b, &b, static_cast<std::size_t>(size_b)};
    ASSERT_EQ(overlap(one, other), expected) << to_string(a) << " and " << to_string(b);
    ASSERT_EQ(overlap(other, one), expected);
    const std::vector<std::int64_t> offsets = offsets_of(a);
    const bool repeats = std::set(offsets.begin(), offsets.end()).size() != offsets.size();
    ASSERT_EQ(overlaps_itself(a), repeats) << to_string(a);
  }
  EXPECT_GT(overlapping, 5000);
  EXPECT_LT(overlapping, 15000);
}

TEST(Overlap, OfPartsOfALargeMatrixIsDecidedExactly) {
  const View half{{100000, 50}, {100, 1}};
  const StridedMemory left{kMemory, &half, 4};
  const StridedMemory right{kMemory + 50 * 4, &half, 4};
  const StridedMemory middle{kMemory + 49 * 4, &half, 4};
  EXPECT_FALSE(overlap(left, right));
  EXPECT_TRUE(overlap(left, middle));
  const View even{{1 << 20}, {2}};
  EXPECT_FALSE(overlap({kMemory, &even, 4}, {kMemory + 4, &even, 4}));
  EXPECT_TRUE(overlap({kMemory, &even, 4}, {kMemory + 8, &even, 4}));
}

TEST(Overlap, OfManyRegionsIsThatOfTheirPairs) {
  std::mt19937 random(11);
  const auto any = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<View> views(static_cast<std::size_t>(any(0, 12)));
    std::vector<StridedMemory> regions;
    for (View& view : views) {
      view = {{any(0, 3), any(1, 4)}, {any(1, 9), any(1, 3)}, 0};
      regions.push_back({kMemory + any(0, 150), &view, static_cast<std::size_t>(any(1, 4))});
    }
    using Pairs = std::set<std::pair<std::size_t, std::size_t>>;
    Pairs expected;
    for (std::size_t i = 0; i < regions.size(); ++i)
      for (std::size_t k = i + 1; k < regions.size(); ++k)
        if (k % 3 != 0 && overlap(regions[i], regions[k])) expected.emplace(i, k);
    Pairs found;
    for_each_overlap(
        regions, [](std::size_t, std::size_t k) { return k % 3 != 0; },
        [&](std::size_t i, std::size_t k) { EXPECT_TRUE(found.emplace(i, k).second); });
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace sinter
