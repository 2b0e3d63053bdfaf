// Causes follow from a row's numbers and its plan: each in a synthetic run, and in recorded runs.
#include "src/suite/report/causes.h"

#include <gtest/gtest.h>
#include <sinter/compile.h>

#include <algorithm>
#include <cstdlib>

#include "src/api/devices.h"
#include "src/lower/config.h"
#include "src/suite/cases/case.h"
#include "src/suite/cases/inputs.h"
#include "src/suite/report/plan_work.h"
#include "src/suite/report/rules.h"

namespace sinter::suite {
namespace {

constexpr double kCopy = 100e9;   // bytes a second
constexpr double kPeak = 1000e9;  // operations a second

// y = op(x) in one kernel. The row moves `bytes` in the copy's time at full speed, and takes twice
// that; `operations` per element.
struct Made {
  std::string device = "cpu";
  std::string op = "add";
  std::int64_t bytes = 1 << 27;
  double copy_us = (1 << 27) / kCopy * 1e6;
  int operations = 1;
};

PlanInfo plan_of(const Made& made, std::int64_t elements) {
  PlanInfo plan;
  plan.nodes = {{0, "input", "f32 (4096, 4096)", -1, false},
                {1, made.op, "f32 (4096, 4096)", 0, true}};
  plan.edges = {{0, 1, true, "", 0}};
  plan.kernels = {
      {"kernel", "over (4096, 4096)", 4 * elements, 4 * elements, made.operations * elements, 1.0}};
  return plan;
}

Results run_of(const Made& made) {
  Results results;
  results.copy_bytes_per_s = kCopy;
  results.peak_flops_per_s = kPeak;
  ResultRow row;
  row.case_name = "any";
  row.shape = "4096x4096";
  row.dtype = "f32";
  row.device = made.device;
  row.provider = "fused";
  row.bytes_min = made.bytes;
  row.bytes_planned = made.bytes;
  row.bytes_transposed = 0;
  row.kernels = 1;
  row.limit_us = made.copy_us;
  row.limit_ratio = LimitRatio{2, 2, 2};
  row.timing = BenchResult{
      2 * made.copy_us, 2 * made.copy_us, 2 * made.copy_us, 2 * made.copy_us, 10, 1, {}};
  results.rows = {row};
  results.plans = {{row.case_name, row.dtype, {row.shape}, plan_of(made, 4096 * 4096)}};
  return results;
}

Cause only_cause(const Results& results) {
  const std::vector<FarRow> rows = far_rows(results);
  EXPECT_EQ(rows.size(), 1u);
  if (rows.empty()) return {};
  EXPECT_EQ(rows[0].causes.size(), 1u) << rows[0].causes.back().text;
  return rows[0].causes.front();
}

TEST(Causes, NoneForWhatIsNear) {
  Results results = run_of({});
  results.rows[0].limit_ratio = LimitRatio{1.05, 1, 1.1};
  EXPECT_TRUE(is_near_copy(results.rows[0]));
  EXPECT_TRUE(far_rows(results).empty());
  results.rows[0].limit_ratio = LimitRatio{1.2, 1, 1.1};
  EXPECT_FALSE(is_near_copy(results.rows[0]));
  results.rows[0].bytes_min = 1 << 20;
  EXPECT_TRUE(is_near_copy(results.rows[0])) << "small cells may be further away";
}

TEST(Causes, AreOfMeasuredFusedRows) {
  Results results = run_of({});
  results.rows[0].provider = "eager";
  EXPECT_TRUE(far_rows(results).empty());
  results.rows[0].provider = "fused";
  results.rows[0].error = "failed";
  EXPECT_TRUE(far_rows(results).empty());
}

TEST(Causes, MathWhereTheOperationsTakeAsLongAsTheCopy) {
  const Cause cause = only_cause(run_of({.op = "exp", .operations = 40}));
  EXPECT_EQ(cause.kind, "math");
  // 2^24 elements of 40 instructions, executed at half the peak.
  EXPECT_NE(cause.text.find("about 40 instructions for each element, 10 of them for 1 exp; they "
                            "take 1.34 ms"),
            std::string::npos)
      << cause.text;
}

TEST(Causes, MathThatIsLittleBesideTheExcessIsNone) {
  Results results = run_of({.op = "exp", .operations = 20});
  results.rows[0].timing->median_us = 5 * *results.rows[0].limit_us;
  EXPECT_EQ(only_cause(results).kind, "unexplained");
}

TEST(Causes, AGpuHidesMathBehindMemory) {
  // Half of the copy's time.
  EXPECT_EQ(only_cause(run_of({.device = "cpu", .op = "exp", .operations = 20})).kind, "math");
  EXPECT_EQ(only_cause(run_of({.device = "cuda", .op = "exp", .operations = 20})).kind,
            "unexplained");
}

TEST(Causes, MathOfAProgramIsThatOfItsPlan) {
  Results results = run_of({.op = "exp", .operations = 40});
  for (ResultRow& row : results.rows) row.shape = "7x5x3";  // sizes that say little about elements
  for (CasePlan& plan : results.plans) plan.shapes = {"7x5x3"};
  EXPECT_EQ(only_cause(results).kind, "math");
}

TEST(Causes, LatencyWhereTheCopyItselfIsSlow) {
  const Cause cause = only_cause(run_of({.op = "exp", .bytes = 1 << 17, .copy_us = 5}));
  EXPECT_EQ(cause.kind, "latency");
  EXPECT_NE(cause.text.find("131 kB take 1.31 µs"), std::string::npos) << cause.text;
}

TEST(Causes, LatencyWhereNoRowIsMuchFaster) {
  Results results = run_of({.bytes = 1 << 17, .copy_us = 1, .operations = 0});  // out of a cache
  EXPECT_EQ(only_cause(results).kind, "unexplained") << "one row alone says nothing";
  ResultRow large = results.rows[0];
  large.bytes_min = 1 << 25;
  large.limit_ratio = LimitRatio{1, 1, 1};
  results.rows.push_back(large);
  EXPECT_EQ(only_cause(results).kind, "latency");
}

TEST(Causes, TransposedAccess) {
  Results results = run_of({});
  results.rows[0].bytes_transposed = 1 << 26;
  EXPECT_EQ(only_cause(results).kind, "transposed access");
}

TEST(Causes, OlderFilesTakeTheLayoutFromTheTableOfCases) {
  for (const Case& each : all_cases()) {
    Results results = run_of({});
    results.rows[0].case_name = results.plans[0].case_name = each.name;
    results.rows[0].bytes_transposed.reset();
    const bool transposed =
        std::any_of(each.inputs.begin(), each.inputs.end(),
                    [](const Input& input) { return input.layout == Layout::transposed; });
    EXPECT_EQ(only_cause(results).kind == "transposed access", transposed) << each.name;
  }
}

TEST(Causes, DisturbanceWhereSamplesLieFarApart) {
  Results results = run_of({.op = "exp", .operations = 40});
  results.rows[0].limit_ratio = LimitRatio{2, 1.2, 2.5};
  const std::vector<Cause> causes = far_rows(results).front().causes;
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].kind, "disturbance");
  EXPECT_NE(causes[0].text.find("between 1.20 and 2.50 times"), std::string::npos);
  EXPECT_EQ(causes[1].kind, "math");
}

TEST(Causes, MillisecondsAreNoLatency) {
  const double slow_us = 10 * Made().copy_us;
  EXPECT_EQ(only_cause(run_of({.copy_us = slow_us})).kind, "unexplained");
}

TEST(Causes, TrafficThatFusionLeft) {
  Results results = run_of({});
  results.rows[0].bytes_planned = 2 * *results.rows[0].bytes_planned;
  results.rows[0].kernels = 2;
  const Cause cause = only_cause(results);
  EXPECT_EQ(cause.kind, "extra traffic");
  EXPECT_NE(cause.text.find("its 2 kernels move 2 times"), std::string::npos) << cause.text;
}

// x - sum(x), then the same again.
PlanInfo two_reductions() {
  PlanInfo plan = run_of({}).plans[0].plan;
  plan.nodes = {{0, "input", "f32 (4096, 4096)", -1, false},
                {1, "sum", "f32 (4096)", 0, false},
                {2, "sub", "f32 (4096, 4096)", 0, false},
                {3, "sum", "f32 (4096)", 0, false},
                {4, "sub", "f32 (4096, 4096)", 0, true}};
  plan.edges = {{0, 1, true, "", 0}, {0, 2, true, "", 0}, {1, 2, true, "", 0},
                {2, 3, true, "", 0}, {2, 4, true, "", 0}, {3, 4, true, "", 0}};
  return plan;
}

TEST(Causes, ReductionsInTurn) {
  Results results = run_of({.device = "cuda"});
  results.plans[0].plan = two_reductions();
  Cause cause = only_cause(results);
  EXPECT_EQ(cause.kind, "reductions");
  EXPECT_NE(cause.text.find("2 reductions in turn: threads wait"), std::string::npos) << cause.text;
  results.rows[0].tiles = {"over (4096, 4096) as row, clusters of 8: 128 programs"};
  cause = only_cause(results);
  EXPECT_NE(cause.text.find("the 8 blocks of a cluster wait"), std::string::npos) << cause.text;
}

TEST(Causes, AReductionThatNobodyWaitsFor) {
  Results results = run_of({});
  PlanInfo& plan = results.plans[0].plan;
  plan.nodes = {{0, "input", "f32 (4096, 4096)", -1, false}, {1, "sum", "f32 (4096)", 0, true}};
  EXPECT_EQ(only_cause(results).kind, "reductions");
  plan.kernels[0].bytes_written = 4 * 4096;
  EXPECT_EQ(only_cause(results).kind, "inexact limit") << "it writes next to nothing";
}

TEST(Causes, SeveralPasses) {
  Results results = run_of({});
  results.rows[0].tiles = {"over (4, 8) as chunked: 3 programs that read 3 times"};
  const Cause cause = only_cause(results);
  EXPECT_EQ(cause.kind, "several passes");
  EXPECT_NE(cause.text.find("3 times"), std::string::npos) << cause.text;
}

TEST(Causes, WithoutAPlanItSaysThatItDoesNotKnow) {
  Results results = run_of({});
  results.plans.clear();
  EXPECT_EQ(only_cause(results).kind, "unexplained");
}

TEST(PlanWork, CountsInstructionsPerElement) {
  const PlanWork work = work_of({"any", "f32", {"4096x4096"}, two_reductions()});
  EXPECT_EQ(work.reductions_in_turn, 2);
  EXPECT_TRUE(work.reduces);
  EXPECT_DOUBLE_EQ(work.operations, 1);
  EXPECT_DOUBLE_EQ(work.written_share, 0.5);
  EXPECT_TRUE(work.heavy.empty());
}

// As plans write them.
TEST(TileFacts, AreParsedFromPlans) {
  Config config = RowConfig{};
  tiling_of(config).mapping.threads = 128;
  tiling_of(config).mapping.cluster = 8;
  EXPECT_EQ(facts_of({"over (8, 8)", to_string(config)}).cluster, 8);
  EXPECT_EQ(facts_of({"over (8, 8)"}).cluster, 1);

  const Case& softmax = find_case("softmax");
  const CompiledFunction function =
      compile_list(softmax.program, static_cast<int>(softmax.inputs.size()), {});
  const auto passes_of = [&](const Shape2& shape) {
    const auto inputs = unbacked_inputs(softmax, shape, DType::f32, open_device("cpu"));
    return facts_of({function.plan(inputs).kernels.front().tiles}).passes;
  };
  EXPECT_EQ(passes_of({64, 64}), 1);
  EXPECT_GT(passes_of({1024, 2'000'000}), 1) << "no cache of a core holds such a row";
}

std::string recorded(const std::string& name) {
  const char* root = std::getenv("SINTER_SOURCE_DIR");
  return std::string(root ? root : ".") + "/bench/results/" + name;
}

// Files from before rows had `tiles` and `bytes_transposed`: what docs/RESULTS.md says about them.
TEST(Causes, OfRecordedRuns) {
  if (!std::getenv("SINTER_SOURCE_DIR")) GTEST_SKIP() << "SINTER_SOURCE_DIR is not set";
  const auto kind_of = [](const std::vector<FarRow>& rows, const std::string& name,
                          const std::string& shape) -> std::string {
    for (const FarRow& row : rows)
      if (row.case_name == name && row.shape == shape) return row.causes.front().kind;
    return "near";
  };
  const auto cpu = far_rows(read_results(recorded("cpu-epyc-2cores-2026-11-15.json")));
  EXPECT_EQ(kind_of(cpu, "double_softmax", "4096x4096"), "math");
  EXPECT_EQ(kind_of(cpu, "bias_dropout_add_t", "4096x4096"), "transposed access");
  EXPECT_EQ(kind_of(cpu, "h_red_red", "128x128"), "latency");
  EXPECT_EQ(kind_of(cpu, "layernorm", "4096x4096"), "near");
  const auto gpu = far_rows(read_results(recorded("cuda-h200-grid-f16-2026-11-16.json")));
  EXPECT_EQ(gpu.size(), 35u) << "docs/RESULTS.md: 1065 of 1100 are near the copy";
  EXPECT_EQ(kind_of(gpu, "double_softmax", "65536x65536"), "math");
  EXPECT_EQ(kind_of(gpu, "layernorm", "512x32768"), "reductions");
  EXPECT_EQ(kind_of(gpu, "h_red_red", "4096x16384"), "inexact limit");
}

}  // namespace
}  // namespace sinter::suite
