// The runner: complete rows, errors that stay in their row, stopping, and files that are whole.
#include "src/suite/runner.h"

#include <gtest/gtest.h>
#include <sinter/error.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/runtime/registry.h"

namespace sinter::suite {
namespace {

namespace fs = std::filesystem;

SuiteOptions tiny() {
  SuiteOptions options;
  options.cases = {"softmax", "h_red_pw"};
  options.shapes = {{33, 65}};
  options.seconds = 0.001;
  return options;
}

bool go_on(const Progress&) { return true; }

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::path(::testing::TempDir()) / ("suite-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(Runner, RowsHaveEveryKey) {
  const Results results = run_suite(tiny(), go_on);
  const auto json = nlohmann::json::parse(to_json(results));
  for (const char* key : {"date", "device", "description", "commit", "command_line", "version"})
    EXPECT_TRUE(json["meta"].contains(key)) << key;
  ASSERT_EQ(json["rows"].size(), 4u);
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

TEST(Runner, WhatDoesNotFitIsARowWithAnError) {
  SuiteOptions options = tiny();
  options.shapes = {{1LL << 24, 1LL << 24}, {8, 8}};
  const Results results = run_suite(options, go_on);
  ASSERT_EQ(results.rows.size(), 8u);
  EXPECT_NE(results.rows[0].error.find("out of memory"), std::string::npos)
      << results.rows[0].error;
  EXPECT_FALSE(results.rows[0].timing);
  EXPECT_TRUE(results.rows[0].failed());
  EXPECT_TRUE(results.rows[2].timing) << "the sweep goes on";
  EXPECT_FALSE(results.rows[2].failed());
  EXPECT_TRUE(nlohmann::json::parse(to_json(results))["rows"][0].contains("error"));
}

TEST(Runner, StopsWhenToldTo) {
  int calls = 0;
  const Results results = run_suite(tiny(), [&](const Progress& at) {
    EXPECT_EQ(at.total, 2u);
    return ++calls < 2;
  });
  EXPECT_TRUE(results.interrupted);
  EXPECT_EQ(results.rows.size(), 2u);
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
  EXPECT_EQ(shapes_of_set("full").size(), 100u);
}

TEST(Runner, SixteenBitsWithoutFusionAreHeldToNoBound) {
  SuiteOptions options = tiny();
  options.dtypes = {DType::bf16};
  const Results results = run_suite(options, go_on);
  EXPECT_FALSE(results.rows[0].tolerance);
  EXPECT_TRUE(results.rows[0].reasons.contains("tolerance"));
  EXPECT_TRUE(results.rows[1].tolerance);
}

TEST(Results, AreWrittenWholeAndAlone) {
  const TemporaryFolder folder;
  Results results;
  results.rows.resize(1);
  results.rows[0].case_name = "softmax";
  results.rows[0].error = "a \"quoted\", long\nreason";
  const std::string path = write_results(folder.path() + "/deep", results);
  EXPECT_EQ(nlohmann::json::parse(std::ifstream(path))["rows"].size(), 1u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() + "/deep"), {}), 2);
  EXPECT_NE(to_csv(results).find("\"a \"\"quoted\"\", long\nreason\""), std::string::npos);
  EXPECT_THROW(write_results("/proc/nowhere", results), UserError);
}

TEST(Results, NanIsWrong) {
  ResultRow row;
  row.tolerance = 1e-6;
  row.max_rel_err = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(row.is_wrong());
  row.max_rel_err = 1e-7;
  EXPECT_FALSE(row.is_wrong());
}

}  // namespace
}  // namespace sinter::suite
