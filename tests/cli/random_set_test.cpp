// `sinter suite --set random`: what it refuses, what it writes, and its summary.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/random_text.h"
#include "tests/cli/tool.h"

namespace {

namespace suite = sinter::suite;
using sinter::test::Outcome;
using json = nlohmann::json;

// With this seed the first four cells of softmax have 1132 to 4248 elements.
constexpr const char* kSmallCells = " --set random --seed 1736 --cases softmax --seconds 0.001";

class RandomSetCommand : public sinter::test::ToolTest {
 protected:
  std::string suite_of(const std::string& options) const {
    return "suite" + (kSmallCells + (" --out " + out())) + options;
  }
  json results() const { return json::parse(std::ifstream(out() + "/results.json")); }
  std::set<std::string> cells() const {
    std::set<std::string> cells;
    const json rows = results()["rows"];
    for (const json& row : rows)
      cells.insert(row["case"].get<std::string>() + " " + row["shape"].get<std::string>() + " " +
                   row["dtype"].get<std::string>());
    return cells;
  }
};

TEST_F(RandomSetCommand, RefusesWhatMakesNoSense) {
  for (const char* seed : {"abc", "-1", "1.5", "4294967296", "''"})
    expect(std::string("suite --set random --seed ") + seed, 2,
           "is not a seed: expected a whole number from 0 to 4294967295");
  for (const char* cells : {"0", "-3", "many", "100001"})
    expect(std::string("suite --set random --cells ") + cells, 2,
           "is not a number of cells: expected a whole number from 1 to 100000");
  expect("suite --seed 3", 2, "[suite] --seed is for the random set: add --set random");
  expect("suite --set grid --cells 3", 2, "[suite] --cells is for the random set");
  expect("suite --set random --shapes 8x8", 2, "[suite] --set random draws its shapes");
  expect("suite --set random --cases my.sinter", 2, "my.sinter cannot be among them");
  expect("suite --set randm", 2, "did you mean random?");
  EXPECT_FALSE(std::filesystem::exists(out()));
}

TEST_F(RandomSetCommand, IsInTheHelp) {
  for (const char* part : {"random: cells drawn", "--seed", "--cells", "300"})
    expect("suite --help", 0, part);
}

TEST_F(RandomSetCommand, MeasuresCellsOfSeveralTypes) {
  const Outcome outcome = run(suite_of(" --cells 4"));
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("Random set, seed 1736: 4 of 4 cells measured, 0 failed, 0 skipped"),
            std::string::npos)
      << outcome.text;
  EXPECT_EQ(cells(), (std::set<std::string>{"softmax 177x24 f16", "softmax 400x9 bf16",
                                            "softmax 1x1132 bf16", "softmax 137x11 f16"}));
  EXPECT_EQ(results()["meta"]["random"]["seed"], 1736);
  EXPECT_EQ(results()["meta"]["random"]["cells"], 4);
  EXPECT_EQ(results()["meta"]["random"]["dtypes"], (json{"f32", "f16", "bf16"}));
  // The files of such a run can be compared and shown.
  expect("compare " + out() + " " + out(), 0, "8 the same");
  expect("report " + out(), 0, "report.html");
}

TEST_F(RandomSetCommand, ATypeAloneIsDrawnWhenAskedFor) {
  expect(suite_of(" --cells 2 --dtype f64"), 0, "f64");
  const json rows = results()["rows"];
  ASSERT_EQ(rows.size(), 4u);
  for (const json& row : rows) EXPECT_EQ(row["dtype"], "f64");
}

TEST_F(RandomSetCommand, TheSummaryIsJsonToo) {
  const Outcome outcome = run(suite_of(" --cells 2 --json"));
  const json summary = json::parse(outcome.text.substr(outcome.text.find('{')));
  EXPECT_EQ(summary["random"]["seed"], 1736);
  EXPECT_EQ(summary["random"]["measured"], 2);
  EXPECT_TRUE(summary["random"]["not_slower"].is_null()) << "there are no peers";
  EXPECT_EQ(summary["random"]["near_copy"]["of"], 2);
}

TEST_F(RandomSetCommand, AStoppedRunGoesOnWithItsSeed) {
  ASSERT_EQ(run(suite_of(" --cells 2")).code, 0);
  const std::set<std::string> first = cells();
  const std::string options = " --cases softmax --seconds 0.001 --resume --out " + out();
  expect("suite --set random --cells 3" + options, 0, "seed 1736: 3 of 3 cells");
  const std::set<std::string> all = cells();
  EXPECT_EQ(all.size(), 3u);
  EXPECT_TRUE(std::includes(all.begin(), all.end(), first.begin(), first.end()));
  expect("suite --set random --seed 1 --cells 3" + options, 2,
         "had another random set: 'seed 1736");
  expect("suite --shapes 8x8" + options, 2, "had another random set");
}

suite::ResultRow row(const char* shape, const char* provider, double us) {
  suite::ResultRow row;
  row.case_name = "softmax";
  row.shape = shape;
  row.dtype = "f16";
  row.device = "cpu";
  row.provider = provider;
  row.timing = sinter::BenchResult{us, us, us, us, 9, 1, {}};
  row.bytes_min = 1 << 20;
  return row;
}

TEST(RandomText, HasTheSharesAndTheWorstCells) {
  suite::Results results;
  results.device = "cpu";
  results.seconds = 0.4;
  EXPECT_EQ(sinter::cli::random_text(results), "");
  results.random = suite::RandomSet{7, 2, {"softmax"}, {"f16"}, 1 << 26, 1 << 30};
  results.rows = {row("8x9", "fused", 10), row("8x9", "torch_compile", 8), row("9x9", "fused", 10),
                  row("9x9", "torch_compile", 20)};
  results.rows[0].limit_ratio = suite::LimitRatio{1.5, 1.5, 1.5};
  EXPECT_EQ(sinter::cli::random_text(results),
            "Random set, seed 7: 2 of 2 cells measured, 0 failed, 0 skipped\n"
            "not slower than the best peer, within 3%: 1 of 2 (50.0%), worst 0.80x: softmax 8x9 "
            "f16\n"
            "within 1.15x of the copy, from 64 MB on: no cells\n"
            "within 1.40x of the copy, below 64 MB: 0 of 1 (0.0%), worst 1.50x: softmax 8x9 f16\n"
            "  softmax 8x9 f16: 0.80x the best peer's speed, 1.50x the copy's time\n"
            "    sinter suite --cases softmax --shapes 8x9 --dtype f16 --peers torch\n");
}

}  // namespace
