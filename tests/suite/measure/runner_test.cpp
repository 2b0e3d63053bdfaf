// The runner: complete rows, errors that stay in their row, stopping and resuming.
#include "src/suite/measure/runner.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <nlohmann/json.hpp>

#include "src/runtime/registry.h"

namespace sinter::suite {
namespace {

SuiteOptions tiny() {
  SuiteOptions options;
  options.cases = {"softmax", "h_red_pw"};
  options.shapes = {{33, 65}};
  options.seconds = 0.001;
  return options;
}

bool go_on(const Progress&) { return true; }

void expect_every_null_explained(const Results& results) {
  const auto json = nlohmann::json::parse(to_json(results));
  for (const auto& row : json["rows"])
    for (const auto& [name, value] : row.items())
      EXPECT_TRUE(!value.is_null() || row["reasons"].contains(name)) << name << "\n" << row.dump(1);
}

TEST(Runner, RowsHaveEveryKey) {
  const Results results = run_suite(tiny(), go_on);
  const auto json = nlohmann::json::parse(to_json(results));
  for (const char* key : {"date", "device", "description", "commit", "command_line", "version"})
    EXPECT_TRUE(json["meta"].contains(key)) << key;
  ASSERT_EQ(json["rows"].size(), 4u);
  expect_every_null_explained(results);
  for (const auto& row : json["rows"]) {
    for (const char* key :
         {"case",       "shape",       "dtype",       "device",    "provider",         "median_us",
          "p20_us",     "p80_us",      "limit_us",    "bytes_min", "buffer_bytes",     "compile_ms",
          "kernels",    "max_abs_err", "max_rel_err", "tolerance", "checked_elements", "flops",
          "peak_bytes", "call_us"})
      EXPECT_TRUE(row.contains(key) && !row[key].is_null()) << key;
    for (const char* key : {"bytes_measured", "instructions"}) {
      EXPECT_EQ(row[key].is_null(), row["reasons"].contains(key)) << key;
      EXPECT_NE(row["reasons"].value(key, "counted"), "") << key;
    }
    EXPECT_FALSE(row.contains("error"));
    EXPECT_LE(row["p20_us"], row["median_us"]);
    EXPECT_LE(row["median_us"], row["p80_us"]);
    EXPECT_GE(row["peak_bytes"], 33 * 65 * 4);
  }
  EXPECT_EQ(results.peak_flops_per_s, find_device("cpu")->peak_flops());
  EXPECT_EQ(json["rows"][1]["provider"], "fused");
  EXPECT_EQ(json["rows"][1]["kernels"], 1);
}

TEST(Runner, WorkloadsBeyondMemoryGetASkippedRow) {
  SuiteOptions options = tiny();
  options.shapes = {{1LL << 24, 1LL << 24}, {8, 8}};
  const Results results = run_suite(options, go_on);
  ASSERT_EQ(results.rows.size(), 8u);
  EXPECT_NE(results.rows[0].skipped.find("does not fit into memory"), std::string::npos)
      << results.rows[0].skipped;
  EXPECT_FALSE(results.rows[0].timing);
  EXPECT_FALSE(results.rows[0].failed()) << "a small machine is no failure";
  expect_every_null_explained(results);
  EXPECT_TRUE(results.rows[2].timing) << "the sweep goes on";
  EXPECT_TRUE(nlohmann::json::parse(to_json(results))["rows"][0].contains("skipped"));
}

TEST(Runner, PlansAreKept) {
  const Results results = run_suite(tiny(), go_on);
  ASSERT_EQ(results.plans.size(), 2u);
  EXPECT_EQ(results.plans[0].case_name, "softmax");
  EXPECT_EQ(results.plans[0].plan.kernels.size(), 1u);
  EXPECT_EQ(results.plans[0].shapes, std::vector<std::string>{"33x65"});
}

TEST(Runner, AStoppedRunGoesOnWhereItWas) {
  SuiteOptions options = tiny();
  int calls = 0;
  const Results stopped = run_suite(options, [&](const Progress&) { return ++calls < 2; });
  ASSERT_EQ(stopped.rows.size(), 2u);
  options.resumed = stopped;
  std::vector<std::string> measured;
  const Results whole = run_suite(options, [&](const Progress& at) {
    if (!at.next.empty()) measured.push_back(at.next);
    return true;
  });
  EXPECT_EQ(measured,
            (std::vector<std::string>{"h_red_pw 33x65 f32", "h_red_pw 33x65 f32, again"}));
  EXPECT_FALSE(whole.interrupted);
  ASSERT_EQ(whole.rows.size(), 4u);
  EXPECT_EQ(whole.date, stopped.date);
  EXPECT_EQ(whole.rows[0].timing->median_us, stopped.rows[0].timing->median_us);
  EXPECT_EQ(whole.plans.size(), 2u);
}

TEST(Runner, FailedAndHalfRowsAreMeasuredAgain) {
  SuiteOptions options = tiny();
  Results stopped = run_suite(options, go_on);
  stopped.rows[1].error = "a compiler was killed";
  stopped.rows[1].timing.reset();
  options.resumed = stopped;
  const Results whole = run_suite(options, go_on);
  ASSERT_EQ(whole.rows.size(), 4u);
  for (const ResultRow& row : whole.rows) EXPECT_TRUE(row.timing && row.error.empty());
}

TEST(Runner, ResumesOnlyWhatIsItsOwn) {
  SuiteOptions options = tiny();
  options.cases = {"softmax"};
  const Results before = run_suite(options, go_on);
  const auto refuses = [&](auto change) {
    options.resumed = before;
    change(*options.resumed);
    EXPECT_THROW(run_suite(options, go_on), UserError);
  };
  refuses([](Results& other) { other.description = "another machine"; });
  refuses([](Results& other) { other.commit = "another commit"; });
  refuses([](Results& other) { other.seconds = 9; });
  refuses([](Results& other) { other.versions["compiler"] = "another compiler"; });
  options.resumed = before;
  options.resumed->versions.clear();
  EXPECT_TRUE(run_suite(options, go_on).versions.contains("compiler")) << "what is new is told";
}

TEST(Runner, StopsWhenToldTo) {
  int calls = 0;
  const Results results = run_suite(tiny(), [&](const Progress& at) {
    EXPECT_EQ(at.total, 4u) << "two visits to two cases";
    EXPECT_EQ(at.work == 0, calls == 0);
    EXPECT_GT(at.all_work, 2 * at.work) << "a first visit is most of the work";
    return ++calls < 2;
  });
  EXPECT_TRUE(results.interrupted);
  EXPECT_EQ(results.rows.size(), 2u);
}

TEST(Runner, ASecondVisitAddsSamples) {
  std::vector<int> samples;
  std::vector<std::string> visits;
  const Results results = run_suite(tiny(), [&](const Progress& at) {
    visits.push_back(at.next);
    if (at.done == 2) samples.push_back(at.results.rows[0].timing->samples);
    return true;
  });
  EXPECT_EQ(visits, (std::vector<std::string>{"softmax 33x65 f32", "h_red_pw 33x65 f32",
                                              "softmax 33x65 f32, again",
                                              "h_red_pw 33x65 f32, again", ""}));
  ASSERT_EQ(results.rows.size(), 4u);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_GE(results.rows[0].timing->samples, samples[0] + 5);
  EXPECT_EQ(results.rows[0].samples_us.size(), results.rows[0].limit_samples_us.size());
}

TEST(Runner, RefusesUnknownNamesBeforeRunning) {
  const auto never = [](const Progress&) -> bool { throw std::logic_error("it ran"); };
  SuiteOptions options = tiny();
  options.cases = {"softmax", "sofmax"};
  EXPECT_THROW(run_suite(options, never), UserError);
  options = tiny();
  options.providers = {"torch"};
  EXPECT_THROW(run_suite(options, never), UserError);
  options = tiny();
  options.device = "tpu";
  EXPECT_THROW(run_suite(options, never), UserError);
  options = tiny();
  options.shapes.clear();
  EXPECT_THROW(run_suite(options, never), UserError);
  EXPECT_THROW(shapes_of_set("slow"), UserError);
  EXPECT_EQ(shapes_of_set("grid").size(), 100u);
}

TEST(Runner, SixteenBitsWithoutFusionAreHeldToNoBound) {
  SuiteOptions options = tiny();
  options.dtypes = {DType::bf16};
  const Results results = run_suite(options, go_on);
  EXPECT_FALSE(results.rows[0].tolerance);
  EXPECT_TRUE(results.rows[0].reasons.contains("tolerance"));
  EXPECT_TRUE(results.rows[1].tolerance);
}

}  // namespace
}  // namespace sinter::suite
