// The random set's cells: their bounds, how they are spread, and that a seed determines them.
#include "src/suite/cases/random_set.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <algorithm>
#include <map>
#include <set>

namespace sinter::suite {
namespace {

RandomSet a_set(std::uint64_t seed, int cells = kDefaultCells) {
  RandomSet set;
  set.seed = seed;
  set.cells = cells;
  for (const Case& each : all_cases()) set.cases.push_back(each.name);
  set.dtypes = {"f32", "f16", "bf16"};
  set.most_elements = kMostElements;
  set.most_bytes = std::int64_t{1} << 48;
  return set;
}

std::vector<std::string> titles(const RandomCells& drawn) {
  std::vector<std::string> texts;
  for (const RandomCell& cell : drawn.cells)
    texts.push_back(cell.what->name + " " + to_string(cell.shape) + " " +
                    std::string(name_of(cell.dtype)));
  return texts;
}

std::vector<std::string> titles(const RandomSet& set) { return titles(draw_cells(set)); }

TEST(RandomSet, ShapesAreWithinTheBounds) {
  for (const RandomCell& cell : draw_cells(a_set(1, 3000)).cells) {
    for (const std::int64_t side : {cell.shape.rows, cell.shape.cols}) {
      EXPECT_GE(side, 1);
      EXPECT_LE(side, kLongestSide);
    }
    EXPECT_GE(cell.shape.numel(), kLeastElements);
    EXPECT_LE(cell.shape.numel(), kMostElements);
  }
}

TEST(RandomSet, HalfOfTheWidthsAreOdd) {
  const std::vector<RandomCell> cells = draw_cells(a_set(2)).cells;
  EXPECT_EQ(std::count_if(cells.begin(), cells.end(),
                          [](const RandomCell& cell) { return cell.shape.cols % 2; }),
            kDefaultCells / 2);
}

// Of sides a and b with log2 in [0, 20] and log2(a) + log2(b) in [10, 28], 22% of the a are below
// 2^5 and 19% above 2^15.
TEST(RandomSet, SidesAreSpreadEvenlyOverPowersOfTwo) {
  constexpr int kCells = 3000;
  for (const auto side : {&Shape2::rows, &Shape2::cols}) {
    std::vector<std::int64_t> sides;
    for (const RandomCell& cell : draw_cells(a_set(3, kCells)).cells)
      sides.push_back(cell.shape.*side);
    std::sort(sides.begin(), sides.end());
    const auto below = [&](std::int64_t limit) {
      return double(std::lower_bound(sides.begin(), sides.end(), limit) - sides.begin()) / kCells;
    };
    EXPECT_NEAR(below(1 << 5), 0.22, 0.04);
    EXPECT_NEAR(below(1 << 10), 0.53, 0.04);
    EXPECT_NEAR(1 - below(1 << 15), 0.19, 0.04);
    EXPECT_EQ(sides.front(), 1);
    EXPECT_GT(sides.back(), kLongestSide / 2);
  }
}

TEST(RandomSet, CasesAndTypesAreMixed) {
  std::map<std::string, int> cases;
  std::map<DType, int> dtypes;
  for (const RandomCell& cell : draw_cells(a_set(4)).cells) {
    ++cases[cell.what->name];
    ++dtypes[cell.dtype];
  }
  EXPECT_EQ(cases.size(), all_cases().size());
  ASSERT_EQ(dtypes.size(), 3u);
  for (const auto& [dtype, count] : dtypes) EXPECT_NEAR(count, 100, 40) << name_of(dtype);
  RandomSet one = a_set(4);
  one.dtypes = {"f64"};
  one.cases = {all_cases().front().name};
  for (const RandomCell& cell : draw_cells(one).cells) {
    EXPECT_EQ(cell.dtype, DType::f64);
    EXPECT_EQ(cell.what, &all_cases().front());
  }
}

// The figures of published runs refer to these cells: an unintended change of the draw fails here.
TEST(RandomSet, ASeedGivesTheseCells) {
  RandomSet set = a_set(7, 4);
  set.cases = {"softmax", "layernorm"};
  EXPECT_EQ(titles(set),
            (std::vector<std::string>{"softmax 115x112 bf16", "softmax 3x15407 bf16",
                                      "layernorm 7x185562 f32", "softmax 12580x7 bf16"}));
}

TEST(RandomSet, TheSeedDeterminesTheCells) {
  const std::vector<std::string> cells = titles(a_set(7));
  EXPECT_EQ(titles(a_set(7)), cells);
  const std::vector<std::string> others = titles(a_set(8));
  std::size_t same = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) same += cells[i] == others[i];
  EXPECT_EQ(same, 0u);
  EXPECT_EQ(std::set(cells.begin(), cells.end()).size(), cells.size()) << "no cell twice";
}

TEST(RandomSet, MoreCellsBeginWithTheSame) {
  const std::vector<std::string> few = titles(a_set(7, 10));
  const std::vector<std::string> many = titles(a_set(7, 100));
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

TEST(RandomSet, CellsAboveTheLimitsAreDrawnAgainAndTheOthersStay) {
  const RandomCells all = draw_cells(a_set(9));
  EXPECT_EQ(all.above_elements, 0);
  EXPECT_EQ(all.above_bytes, 0);
  RandomSet small = a_set(9);
  small.most_elements = 1 << 24;
  small.most_bytes = 1 << 25;
  const RandomCells fitting = draw_cells(small);
  ASSERT_EQ(fitting.cells.size(), all.cells.size());
  const std::vector<std::string> before = titles(all);
  const std::vector<std::string> after = titles(fitting);
  int changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const RandomCell& cell = all.cells[i];
    const bool fits = cell.shape.numel() <= small.most_elements &&
                      bytes_min(*cell.what, cell.shape, cell.dtype) <= small.most_bytes;
    EXPECT_EQ(before[i] == after[i], fits) << before[i] << " " << after[i];
    EXPECT_LE(fitting.cells[i].shape.numel(), small.most_elements);
    EXPECT_LE(bytes_min(*fitting.cells[i].what, fitting.cells[i].shape, fitting.cells[i].dtype),
              small.most_bytes);
    EXPECT_EQ(fitting.cells[i].dtype, cell.dtype);
    EXPECT_EQ(fitting.cells[i].what, cell.what);
    changed += !fits;
  }
  EXPECT_GT(fitting.above_elements, 0);
  EXPECT_GT(fitting.above_bytes, 0);
  EXPECT_GE(fitting.above_elements + fitting.above_bytes, changed);
}

TEST(RandomSet, RefusesWhatCannotBeDrawn) {
  RandomSet set = a_set(1);
  set.most_bytes = 16;
  EXPECT_THROW(draw_cells(set), UserError);
  set = a_set(1);
  set.cases = {pending_cases().front().name};
  EXPECT_THROW(draw_cells(set), UserError) << "it cannot run yet";
  set = a_set(1);
  set.dtypes = {"f8"};
  EXPECT_THROW(draw_cells(set), UserError);
  set.dtypes.clear();
  EXPECT_THROW(draw_cells(set), UserError);
}

}  // namespace
}  // namespace sinter::suite
