// Results in files: complete, the same when read back; other files are refused.
#include "src/suite/results/results.h"

#include <gtest/gtest.h>
#include <sinter/error.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/suite/results/plans.h"

namespace sinter::suite {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::path(::testing::TempDir()) / ("results-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

// Every field has a distinct value.
ResultRow full_row() {
  ResultRow row;
  row.case_name = "softmax";
  row.shape = "4x8";
  row.dtype = "f32";
  row.device = "cpu";
  row.provider = "fused";
  row.timing = BenchResult{2.5, 2.25, 2.75, 2.125, 77, 1, {}};
  row.visits = 2;
  row.limit_us = 1.5;
  row.limit_ratio = LimitRatio{1.625, 1.5, 1.75};
  row.call_us = 1.25;
  row.bytes_min = 256;
  row.bytes_planned = 257;
  row.bytes_measured = 258;
  row.buffer_bytes = 259;
  row.compile_ms = 12.5;
  row.kernels_from_disk = 1;
  row.kernels = 2;
  row.max_abs_err = 1e-9;
  row.max_rel_err = 2e-9;
  row.tolerance = 3e-9;
  row.checked_elements = 32;
  row.flops = 160;
  row.instructions = 161;
  row.peak_bytes = 162;
  row.bytes_transposed = 163;
  row.tiles = {"over (4, 8), in rows"};
  row.reasons = {{"nothing", "for a reason"}};
  return row;
}

PlanInfo small_plan() {
  PlanInfo plan;
  plan.nodes = {{0, "input", "f32 (4, 8)", -1, false}, {1, "exp", "f32 (4, 8)", 0, true}};
  plan.edges = {{0, 1, false, "because", 512}};
  plan.kernels = {{"exp", "over (4, 8)", 128, 128, 32, 0.5}};
  return plan;
}

Results full_results() {
  Results results;
  results.date = "2026-01-02T03:04:05Z";
  results.device = "cpu";
  results.description = "a machine";
  results.commit = "abc";
  results.command_line = "sinter suite";
  results.version = "0.1.0";
  results.versions = {{"system", "Linux"}};
  results.seconds = 0.25;
  results.random = RandomSet{4294967295, 2, {"softmax"}, {"f32", "bf16"}, 1 << 26, 1 << 30};
  results.copy_bytes_per_s = 1e10;
  results.peak_flops_per_s = 2e11;
  results.interrupted = true;
  results.notes = {"a note"};
  results.rows = {full_row(), {}};
  results.rows[1].dtype = "bf16";
  results.rows[1].shape = "1x1";
  results.rows[1].skipped = "does not fit";
  add_plan(results.plans, results.rows[0], small_plan());
  return results;
}

TEST(Results, ReadBackTheyAreTheSame) {
  const Results results = full_results();
  const std::string text = to_json(results);
  const Results back = from_json(text, "memory");
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.random->seed, 4294967295);
  EXPECT_EQ(describe(&*back.random), describe(&*results.random));
  EXPECT_EQ(back.rows[0].timing->samples, 77);
  EXPECT_EQ(back.rows[0].limit_us, 1.5);
  EXPECT_EQ(back.rows[0].limit_ratio->p80, 1.75);
  EXPECT_EQ(back.rows[0].visits, 2);
  EXPECT_EQ(back.rows[1].skipped, "does not fit");
  EXPECT_FALSE(back.rows[1].timing);
  EXPECT_EQ(back.plans[0].plan.nodes[0].kernel, -1);
  EXPECT_EQ(back.plans[0].plan.edges[0].reason, "because");
}

TEST(Results, FilesFromBeforeAFieldWasAddedCanBeRead) {
  auto json = nlohmann::json::parse(to_json(full_results()));
  for (auto& row : json["rows"])
    for (const char* field : {"bytes_transposed", "tiles"}) row.erase(field);
  const Results old = from_json(json.dump(), "memory");
  EXPECT_FALSE(old.rows[0].bytes_transposed);
  EXPECT_TRUE(old.rows[0].tiles.empty());
}

TEST(Results, ErrorsThatAreNoNumbersSurvive) {
  Results results = full_results();
  results.rows[0].max_abs_err = std::numeric_limits<double>::infinity();
  results.rows[0].max_rel_err = std::numeric_limits<double>::quiet_NaN();
  const Results back = from_json(to_json(results), "memory");
  EXPECT_TRUE(std::isinf(*back.rows[0].max_abs_err));
  EXPECT_TRUE(std::isnan(*back.rows[0].max_rel_err));
  EXPECT_TRUE(back.rows[0].is_wrong());
}

TEST(Results, OtherFilesAreRefusedByName) {
  const auto refusal = [](const std::string& text) {
    try {
      from_json(text, "some/file.json");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  for (const char* text :
       {"", "[]", "{}", "nonsense", "{\"format\": 1}", "{\"format\": \"2\"}", "{\"format\": 2}",
        "{\"format\": 2, \"meta\": 3}", "{\"format\": 1e300}", "{\"format\": 18446744073709551618}",
        "{\"format\": 8589934594}",  // 2 in 32 bits
        "{\"format\": null}", "{\"format\": NaN}", "\xff\xfe",
        "{\"format\": 2, \"meta\": {\"date\": \"\xff\"}}"})
    EXPECT_NE(refusal(text).find("some/file.json"), std::string::npos) << text;
  nlohmann::json json = nlohmann::json::parse(to_json(full_results()));
  const auto refuses = [&](const char* field, const nlohmann::json& value) {
    nlohmann::json broken = json;
    broken["rows"][0][field] = value;
    EXPECT_NE(refusal(broken.dump()).find("some/file.json"), std::string::npos) << field << value;
  };
  refuses("median_us", "fast");
  refuses("median_us", 0);
  refuses("median_us", -1.5);
  refuses("limit_ratio", 0);
  refuses("samples", 1e300);
  refuses("kernels", 5'000'000'000);
  refuses("kernels", 18446744073709551615u);    // -1 in 64 bits
  refuses("bytes_min", 18446744073709551615u);  // as above
  refuses("bytes_min", 1e300);
  refuses("bytes_min", true);
  refuses("reasons", nlohmann::json::array({1}));
  refuses("case", 3);
  refuses("max_rel_err", "small");
  json["rows"][1]["shape"] = "wide";
  EXPECT_EQ(refusal(json.dump()),
            "[suite] some/file.json is damaged: row 2: shape is 'wide', not ROWSxCOLS");
  for (const char* bad : {"", "8x", "x8", "8x-1", "8xx8", "99999999999999999999"}) {
    json["rows"][1]["shape"] = bad;
    EXPECT_NE(refusal(json.dump()).find("not ROWSxCOLS"), std::string::npos) << bad;
  }
  for (const char* of_a_program : {"8", "8x16x32", "0x5"}) {
    json["rows"][1]["shape"] = of_a_program;
    EXPECT_EQ(from_json(json.dump(), "some/file.json").rows[1].shape, of_a_program);
  }
  json["rows"][1].erase("shape");
  EXPECT_EQ(refusal(json.dump()), "[suite] some/file.json is damaged: row 2: shape is missing");
  EXPECT_EQ(
      refusal("{\n \"format\": 2,\n}"),
      "[suite] some/file.json is not a results.json of sinter suite: line 3, column 1: expected "
      "a field's name in quotes, found '}'");
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_NE(refusal("{\"format\": 2, \"notes\": " + deep + "}").find("nested more than 64 levels"),
            std::string::npos);
  // A truncated file.
  const std::string whole = to_json(full_results());
  EXPECT_NE(refusal(whole.substr(0, whole.size() / 2)).find("some/file.json"), std::string::npos);
  EXPECT_THROW(read_results("/no/such/file.json"), UserError);
}

TEST(Results, AreWrittenWholeAndAlone) {
  const TemporaryFolder folder;
  Results results;
  results.rows.resize(1);
  results.rows[0].case_name = "softmax";
  results.rows[0].shape = "4x8";
  results.rows[0].error = "a \"quoted\", long\nreason";
  const std::string path = write_results(folder.path() + "/deep", results);
  EXPECT_EQ(nlohmann::json::parse(std::ifstream(path))["rows"].size(), 1u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() + "/deep"), {}), 2);
  EXPECT_NE(to_csv(results).find("\"a \"\"quoted\"\", long\nreason\""), std::string::npos);
  EXPECT_EQ(read_results(folder.path() + "/deep").rows.size(), 1u) << "a folder will do";
  EXPECT_THROW(write_results("/proc/nowhere", results), UserError);
}

TEST(Results, ColumnsAreTheSameInEveryRow) {
  Results results;
  results.rows = {full_row(), full_row(), full_row()};
  results.rows[0].skipped = "too large";
  results.rows[1].error = "broken";
  std::istringstream lines(to_csv(results));
  std::vector<std::string> text;
  for (std::string line; std::getline(lines, line);) text.push_back(line);
  ASSERT_EQ(text.size(), 4u);
  EXPECT_TRUE(text[0].ends_with(",error,skipped")) << text[0];
  EXPECT_TRUE(text[1].ends_with(",,too large")) << text[1];
  EXPECT_TRUE(text[2].ends_with(",broken,")) << text[2];
  EXPECT_TRUE(text[3].ends_with(",,")) << text[3];
}

TEST(Results, SamplesOfAllVisitsCount) {
  ResultRow row;
  row.add_samples({1, 2, 3}, {1, 1, 1});
  EXPECT_EQ(row.timing->median_us, 2);
  EXPECT_EQ(row.limit_ratio->median, 2);
  row.add_samples({9, 9, 9, 9}, {3, 3, 3, 3});
  EXPECT_EQ(row.timing->samples, 7);
  EXPECT_EQ(row.timing->median_us, 9);
  EXPECT_EQ(row.limit_us, 3);
  EXPECT_EQ(row.limit_ratio->median, 3);
  // A visit without a limit leaves the known limit alone.
  row.add_samples({4}, {});
  EXPECT_EQ(row.timing->samples, 8);
  EXPECT_EQ(row.limit_ratio->median, 3);
}

TEST(Results, NanIsWrong) {
  ResultRow row;
  row.tolerance = 1e-6;
  row.max_rel_err = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(row.is_wrong());
  row.max_rel_err = 1e-7;
  EXPECT_FALSE(row.is_wrong());
}

TEST(Plans, ShapesThatAreFusedAlikeShareOne) {
  std::vector<CasePlan> plans;
  ResultRow row = full_row();
  add_plan(plans, row, small_plan());
  add_plan(plans, row, small_plan());
  row.shape = "8x8";
  PlanInfo larger = small_plan();
  larger.kernels[0].bytes_read *= 2;
  larger.nodes[1].detail = "f32 (8, 8)";
  add_plan(plans, row, larger);
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans[0].shapes, (std::vector<std::string>{"4x8", "8x8"}));
  row.shape = "2x8";
  larger.nodes[1].kernel = 1;
  add_plan(plans, row, larger);
  ASSERT_EQ(plans.size(), 2u);
  row.dtype = "f16";
  add_plan(plans, row, small_plan());
  EXPECT_EQ(plans.size(), 3u);
}

}  // namespace
}  // namespace sinter::suite
