// Which elements are checked: all if that is cheap, else slices that need nothing of each other.
#include "src/suite/reference/sample.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "src/graph/parse.h"

namespace sinter::suite {
namespace {

Graph softmax_over(int axis) {
  const std::string over = " over axis " + std::to_string(axis) + "\n";
  const std::string repeated = axis == 1 ? ".unsqueeze(1)\n" : ".unsqueeze(0)\n";
  return parse_graph("%x: f32(64, 128) = input\n%m = max %x" + over + "%d = sub %x, %m" + repeated +
                     "%e = exp %d\n%s = sum %e" + over + "%y = div %e, %s" + repeated +
                     "return %y\n");
}

std::set<std::int64_t> indices(const OutputSample& sample, std::int64_t divisor,
                               std::int64_t size) {
  std::set<std::int64_t> found;
  for (std::int64_t i = 0; i < sample.count(); ++i)
    found.insert(sample.position(i) / divisor % size);
  return found;
}

TEST(Sample, IsEverythingIfThatIsCheap) {
  const auto sample = choose_sample(softmax_over(1), 1 << 20);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->outputs[0].count(), 64 * 128);
  EXPECT_LE(sample->work, 1 << 20);
  EXPECT_EQ(indices(sample->outputs[0], 1, 64 * 128).size(), 64u * 128u);
}

TEST(Sample, IsWholeRowsOfAProgramOfRows) {
  const std::int64_t work = 5 * 128 * 10;  // of ten rows
  const auto sample = choose_sample(softmax_over(1), work);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->outputs[0].count(), 8 * 128) << "a power of two of the rows";
  EXPECT_LE(sample->work, work);
  const std::set<std::int64_t> rows = indices(sample->outputs[0], 128, 64);
  EXPECT_EQ(rows.size(), 8u);
  EXPECT_TRUE(rows.contains(0) && rows.contains(63)) << "from the first to the last";
  EXPECT_EQ(indices(sample->outputs[0], 1, 128).size(), 128u);
}

TEST(Sample, IsWholeColumnsOfAProgramOfColumns) {
  const auto sample = choose_sample(softmax_over(0), 5 * 64 * 10);
  ASSERT_TRUE(sample);
  EXPECT_EQ(indices(sample->outputs[0], 1, 128).size(), 8u);
  EXPECT_EQ(indices(sample->outputs[0], 128, 64).size(), 64u);
}

TEST(Sample, IsNothingIfOneElementTakesTooMuch) {
  const Graph graph =
      parse_graph("%x: f32(64, 64) = input\n%s = sum %x over axes 0 1\nreturn %s\n");
  EXPECT_FALSE(choose_sample(graph, 64 * 64 - 1));
  const auto sample = choose_sample(graph, 64 * 64);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->work, 64 * 64);
  EXPECT_EQ(sample->outputs[0].count(), 1);
}

TEST(Sample, OfNothingIsEmpty) {
  const auto sample =
      choose_sample(parse_graph("%x: f32(0, 4) = input\n%y = exp %x\nreturn %y\n"), 100);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->outputs[0].count(), 0);
}

TEST(ElementSets, NumberTheirElementsInOrder) {
  ElementSet set(20000);
  const std::vector<std::int64_t> positions{0, 63, 64, 4095, 4096, 12345, 19999};
  for (const std::int64_t position : {4096, 0, 64, 63, 19999, 4095, 12345, 64})
    set.insert(position);
  set.number();
  EXPECT_EQ(set.count(), std::ssize(positions));
  std::vector<std::int64_t> visited;
  for (std::int64_t block = 0; block < set.blocks(); ++block)
    set.visit_block(block, [&](std::int64_t position) { visited.push_back(position); });
  EXPECT_EQ(visited, positions);
  for (std::size_t i = 0; i < positions.size(); ++i) EXPECT_EQ(set.number_of(positions[i]), i);
}

}  // namespace
}  // namespace sinter::suite
