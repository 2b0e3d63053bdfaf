// The random set as a run, and measuring its outliers again.
#include "src/suite/measure/measure_again.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <algorithm>

#include "src/api/devices.h"
#include "src/suite/measure/select_random.h"

namespace sinter::suite {
namespace {

// Cells of at most 2^12 elements.
SuiteOptions random_options(int cells = 3) {
  SuiteOptions options;
  options.random.emplace();
  options.random->seed = 5;
  options.random->cells = cells;
  options.random->most_elements = 1 << 12;
  options.cases = {"softmax", "bias_gelu"};
  options.dtypes = {DType::f32, DType::bf16};
  options.seconds = 0.001;
  return options;
}

bool go_on(const Progress&) { return true; }

std::vector<std::string> titles(const Results& results) {
  std::vector<std::string> all;
  for (const ResultRow& row : results.rows)
    if (row.provider == "fused") all.push_back(row.title());
  return all;
}

TEST(RandomRun, RecordsWhatWasDrawnAndWhatWasDrawnAgain) {
  const Results results = run_suite(random_options(), go_on);
  ASSERT_EQ(results.rows.size(), 6u);
  ASSERT_TRUE(results.random);
  EXPECT_EQ(results.random->cases, (std::vector<std::string>{"softmax", "bias_gelu"}));
  EXPECT_EQ(results.random->dtypes, (std::vector<std::string>{"f32", "bf16"}));
  EXPECT_GT(results.random->most_bytes, 0);
  ASSERT_FALSE(results.notes.empty());
  EXPECT_NE(results.notes[0].find("more than 4096 elements"), std::string::npos)
      << results.notes[0];
  EXPECT_EQ(titles(run_suite(random_options(), go_on)), titles(results));
}

TEST(RandomRun, AResumedRunGoesOnWithItsCells) {
  SuiteOptions options = random_options();
  int calls = 0;
  const Results stopped = run_suite(options, [&](const Progress&) { return ++calls < 2; });
  ASSERT_EQ(stopped.rows.size(), 2u);
  options.resumed = stopped;
  options.random->cells = 4;
  const Results whole = run_suite(options, go_on);
  EXPECT_EQ(whole.rows.size(), 8u);
  EXPECT_EQ(whole.random->cells, 4);
  EXPECT_EQ(whole.rows[0].timing->median_us, stopped.rows[0].timing->median_us);
  EXPECT_EQ(std::count(whole.notes.begin(), whole.notes.end(), stopped.notes[0]), 1);
  options.random->seed = 6;
  EXPECT_THROW(run_suite(options, go_on), UserError) << "another seed";
  options.random.reset();
  options.shapes = {{8, 8}};
  EXPECT_THROW(run_suite(options, go_on), UserError) << "another set";
}

TEST(RandomRun, TheCpuHasLimits) {
  SuiteOptions options = random_options();
  options.random->most_elements = 0;
  const RandomSet set = complete_set(options, *open_device("cpu"));
  EXPECT_GE(set.most_elements, std::int64_t{1} << 24);
  EXPECT_LT(set.most_elements, kMostElements);
  EXPECT_GT(set.most_bytes, 0);
  EXPECT_LT(complete_set(options, *open_device("simt")).most_elements, set.most_elements);
  options.cases.clear();
  EXPECT_EQ(complete_set(options, *open_device("cpu")).cases.size(), all_cases().size());
  options.cases = {"softmax", "my.sinter"};
  EXPECT_THROW(run_suite(options, go_on), UserError) << "a program has its own sizes";
}

void make_far(ResultRow& row) {
  row.limit_ratio = LimitRatio{1000, 1000, 1000};
  row.compile_ms = 1234;
}

TEST(MeasureOutliersAgain, ReplacesTheWholeCell) {
  const SuiteOptions options = random_options();
  Results results = run_suite(options, go_on);
  // Times are what they are: the other cells are made to look good.
  for (ResultRow& row : results.rows) row.limit_ratio = LimitRatio{1, 1, 1};
  make_far(results.rows[3]);
  const std::vector<ResultRow> before = results.rows;
  measure_outliers_again(options, go_on, results);
  ASSERT_EQ(results.rows.size(), 6u);
  EXPECT_LT(results.rows[3].limit_ratio->median, 1000);
  EXPECT_EQ(results.rows[3].compile_ms, 1234) << "that of the first run: kernels were cached";
  EXPECT_EQ(results.rows[3].title(), before[3].title());
  EXPECT_NE(results.rows[2].samples_us, before[2].samples_us) << "timed in turns with it";
  EXPECT_EQ(results.rows[0].samples_us, before[0].samples_us);
  EXPECT_NE(results.notes.back().find("1 of the cells looked slower"), std::string::npos)
      << results.notes.back();
  EXPECT_FALSE(results.interrupted);
}

TEST(MeasureOutliersAgain, MeasuresThePeersAgainToo) {
  SuiteOptions options = random_options(1);
  options.peers = {"torch"};
  options.peer_options.interpreter = "/bin/sh";
  options.peer_options.script =
      "echo '{\"versions\": {}, \"providers\": [\"torch_eager\"]}'\n"
      "while read -r request; do\n"
      "  echo '{\"rows\": [{\"provider\": \"torch_eager\", \"median_us\": 3.5}]}'\n"
      "done\n";
  Results results = run_suite(options, go_on);
  ASSERT_EQ(results.rows.size(), 3u);
  ASSERT_EQ(results.rows[2].timing->median_us, 3.5);
  results.rows[2].timing->median_us = 777;
  make_far(results.rows[1]);
  measure_outliers_again(options, go_on, results);
  EXPECT_EQ(results.rows[2].timing->median_us, 3.5);
  EXPECT_LT(results.rows[1].limit_ratio->median, 1000);
}

TEST(MeasureOutliersAgain, LeavesTheRestAlone) {
  const SuiteOptions options = random_options();
  Results results = run_suite(options, go_on);
  for (ResultRow& row : results.rows) row.limit_ratio = LimitRatio{1, 1, 1};
  const std::size_t notes = results.notes.size();
  measure_outliers_again(
      options, [](const Progress&) -> bool { throw std::logic_error("it ran"); }, results);
  EXPECT_EQ(results.notes.size(), notes);
}

TEST(MeasureOutliersAgain, AStoppedRunKeepsItsRows) {
  const SuiteOptions options = random_options();
  Results results = run_suite(options, go_on);
  make_far(results.rows[1]);
  measure_outliers_again(
      options, [](const Progress&) { return false; }, results);
  EXPECT_EQ(results.rows[1].limit_ratio->median, 1000);
  EXPECT_TRUE(results.interrupted);
}

}  // namespace
}  // namespace sinter::suite
