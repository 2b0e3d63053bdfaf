// The random set's counts, from rows made by hand.
#include "src/suite/report/random_summary.h"

#include <gtest/gtest.h>

#include "src/suite/report/causes.h"
#include "src/suite/report/rules.h"

namespace sinter::suite {
namespace {

constexpr std::int64_t kSmall = 1 << 20;
constexpr std::int64_t kLarge = 1 << 27;

ResultRow row(const std::string& shape, const std::string& provider, double us,
              std::int64_t bytes) {
  ResultRow row;
  row.case_name = "softmax";
  row.shape = shape;
  row.dtype = "f16";
  row.device = "cuda";
  row.provider = provider;
  row.timing = BenchResult{us, us, us, us, 10, 1, {}};
  row.bytes_min = bytes;
  return row;
}

// A cell in which the best peer takes `gain` times the fused time, and that `ratio` times the
// copy's.
void add_cell(Results& results, const std::string& shape, double gain, double ratio,
              std::int64_t bytes = kSmall) {
  results.rows.push_back(row(shape, "eager", 99, bytes));
  results.rows.push_back(row(shape, "fused", 10, bytes));
  results.rows.back().limit_ratio = LimitRatio{ratio, ratio, ratio};
  results.rows.push_back(row(shape, "torch_eager", 20 * gain, bytes));
  results.rows.push_back(row(shape, "torch_compile", 10 * gain, bytes));
}

Results random_run() {
  Results results;
  results.device = "cuda";
  results.seconds = 0.025;
  results.random.emplace();
  results.random->seed = 7;
  results.random->cells = 6;
  return results;
}

TEST(RandomSummary, CountsWhatKeepsTheRules) {
  Results results = random_run();
  add_cell(results, "1x1", 1.5, 1.3);
  add_cell(results, "1x2", 0.98, 1.39);
  add_cell(results, "1x3", 0.9, 1.41);
  add_cell(results, "1x4", 1.1, 1.14, kLarge);
  add_cell(results, "1x5", 1.2, 1.16, kLarge);
  const auto summary = random_summary(results);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->measured, 5);
  EXPECT_EQ(summary->not_slower.count, 4) << "3% are not counted";
  EXPECT_EQ(summary->not_slower.of, 5);
  EXPECT_EQ(summary->not_slower.worst, "softmax 1x3 f16");
  EXPECT_DOUBLE_EQ(summary->not_slower.worst_value, 0.9);
  EXPECT_EQ(summary->near_small.count, 2);
  EXPECT_EQ(summary->near_small.of, 3);
  EXPECT_EQ(summary->near_small.worst, "softmax 1x3 f16");
  EXPECT_EQ(summary->near_large.count, 1);
  EXPECT_EQ(summary->near_large.of, 2);
  EXPECT_EQ(summary->near_large.worst_value, 1.16);
  ASSERT_EQ(summary->outliers.size(), 2u);
  EXPECT_EQ(summary->outliers[0].title, "softmax 1x3 f16") << "furthest outside first";
  EXPECT_EQ(summary->outliers[0].command,
            "sinter suite --cases softmax --shapes 1x3 --dtype f16 --device cuda --peers torch "
            "--seconds 0.025");
  EXPECT_EQ(summary->outliers[1].title, "softmax 1x5 f16");
  EXPECT_EQ(outlier_titles(results), (std::set<std::string>{"softmax 1x3 f16", "softmax 1x5 f16"}));
}

TEST(RandomSummary, FailedSkippedAndUntimedCellsAreNotRated) {
  Results results = random_run();
  add_cell(results, "1x1", 0.1, 9);
  results.rows[1].error = "broken";
  add_cell(results, "1x2", 0.1, 9);
  results.rows[5].skipped = "does not fit";
  results.rows[5].timing.reset();
  add_cell(results, "1x3", 1, 1);
  results.rows.resize(results.rows.size() - 2);
  add_cell(results, "1x4", 2, 1);
  results.rows.back().error = "the best peer failed";
  const auto summary = random_summary(results);
  EXPECT_EQ(summary->measured, 2);
  EXPECT_EQ(summary->failed, 1);
  EXPECT_EQ(summary->skipped, 1);
  EXPECT_EQ(summary->not_slower.of, 1) << "one cell has no peer";
  EXPECT_DOUBLE_EQ(summary->not_slower.worst_value, 4) << "of the peer that did not fail";
  EXPECT_EQ(summary->near_small.of, 2);
  EXPECT_EQ(summary->near_large.of, 0);
  EXPECT_TRUE(summary->outliers.empty());
}

TEST(RandomSummary, ADisturbedPeerIsRatedByItsLowerQuantile) {
  Results results = random_run();
  add_cell(results, "1x1", 1, 1);
  results.rows.back().timing->p20_us = 8;
  results.rows.back().timing->p80_us = 30;
  EXPECT_DOUBLE_EQ(*rate_cells(results).front().gain, 0.8);
}

TEST(RandomSummary, IsOfTheRandomSetAlone) {
  Results results = random_run();
  add_cell(results, "1x1", 1, 1.35);
  EXPECT_TRUE(far_rows(results).empty());
  EXPECT_EQ(to_json(random_summary(results))["seed"], 7);
  EXPECT_TRUE(to_json(random_summary(results))["near_copy_large"].is_null()) << "no such cells";
  results.random.reset();
  EXPECT_FALSE(random_summary(results));
  EXPECT_TRUE(to_json(random_summary(results)).is_null());
  EXPECT_EQ(far_rows(results).size(), 1u) << "the grid's rule is stricter";
  EXPECT_LT(rules().near_copy.small, rules().near_copy_random.small);
}

}  // namespace
}  // namespace sinter::suite
