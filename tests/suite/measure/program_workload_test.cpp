// Programs from files in the suite: what they cost, rows like those of cases, and refusals.
#include <gtest/gtest.h>
#include <sinter/error.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/api/tensor_impl.h"
#include "src/runtime/registry.h"
#include "src/suite/measure/runner.h"
#include "src/suite/measure/select.h"
#include "tests/suite/far_device.h"
#include "tests/support/errors.h"

namespace sinter::suite {
namespace {

namespace fs = std::filesystem;

constexpr char kSoftmax[] =
    "sizes rows = 12, cols = 30\n"
    "%x: f32(rows, cols) = input\n"
    "%most = max %x over axis 1\n"
    "%shifted = sub %x, %most.unsqueeze(1)\n"
    "%e = exp %shifted\n"
    "%total = sum %e over axis 1\n"
    "%y = div %e, %total.unsqueeze(1)\n"
    "return %y\n";

bool go_on(const Progress&) { return true; }

class Programs : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("programs-" + std::to_string(getpid()));
    fs::create_directories(folder_ / "other");
    write("my.sinter", kSoftmax);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return path(name);
  }
  SuiteOptions options_for(const std::vector<std::string>& names) const {
    SuiteOptions options;
    for (const std::string& name : names)
      options.cases.push_back(name.ends_with(".sinter") ? path(name) : name);
    options.shapes = {{8, 16}};
    options.seconds = 0.001;
    return options;
  }
  WorkloadFacts facts_of(const std::string& text) const {
    write("one.sinter", text);
    return select_workloads(options_for({"one.sinter"})).workloads.at(0)->facts();
  }
  std::string refusal(const SuiteOptions& options) const {
    const auto never = [](const Progress&) -> bool { throw std::logic_error("it ran"); };
    return sinter::testing::error_of([&] { run_suite(options, never); });
  }

  fs::path folder_;
};

TEST_F(Programs, HaveRowsLikeCases) {
  SuiteOptions options = options_for({"my.sinter", "softmax"});
  options.sizes = {"8x16"};
  const Results results = run_suite(options, go_on);
  ASSERT_EQ(results.rows.size(), 4u);
  for (std::size_t i = 0; i < 2; ++i) {
    const ResultRow& row = results.rows[i];
    const ResultRow& of_case = results.rows[2 + i];
    EXPECT_EQ(row.title(), "my 8x16 f32");
    EXPECT_EQ(row.provider, of_case.provider);
    EXPECT_EQ(row.error, "");
    EXPECT_FALSE(row.failed());
    EXPECT_TRUE(row.timing && row.limit_us && row.call_us && row.tolerance && row.max_rel_err);
    EXPECT_LT(*row.tolerance, 1e-4);
    EXPECT_EQ(row.checked_elements, 8 * 16);
    EXPECT_EQ(row.bytes_min, of_case.bytes_min);
    EXPECT_EQ(row.flops, of_case.flops);
    EXPECT_EQ(row.bytes_transposed, 0);
  }
  EXPECT_EQ(results.rows[1].kernels, 1);
  EXPECT_EQ(results.plans.at(0).case_name, "my");
  EXPECT_TRUE(results.versions.contains("program my"));
  const auto json = nlohmann::json::parse(to_json(results));
  for (const auto& [name, value] : json["rows"][0].items())
    EXPECT_TRUE(!value.is_null() || json["rows"][0]["reasons"].contains(name)) << name;
}

TEST_F(Programs, RunAtTheirOwnSizesUnlessOthersAreGiven) {
  write("flat.sinter", "sizes n = 40\n%x: f16(n) = input\n%y = exp %x\nreturn %y\n");
  write("fixed.sinter", "%x: i64(2, 3, 4) = input\n%y = add %x, 1\nreturn %y\n");
  const auto shapes = [&](const std::vector<std::string>& sizes) {
    SuiteOptions options = options_for({"my.sinter", "flat.sinter", "fixed.sinter"});
    options.sizes = sizes;
    std::vector<std::string> titles;
    for (const WorkloadPtr& each : select_workloads(options).workloads)
      titles.push_back(each->facts().title());
    return titles;
  };
  using Titles = std::vector<std::string>;
  EXPECT_EQ(shapes({}), (Titles{"my 12x30 f32", "flat 40 f16", "fixed 2x3x4 i64"}));
  EXPECT_EQ(shapes({"5x6", "7", "8x9"}),
            (Titles{"my 5x6 f32", "my 8x9 f32", "flat 7 f16", "fixed 2x3x4 i64"}));
}

TEST_F(Programs, OfEveryDtypeAreRight) {
  write("mixed.sinter",
        "sizes a = 3, b = 20, c = 7\n#scale = argument real 0.1\n"
        "%x: bf16(a, b, c) = input\n%k: i64(c) = input\n%m: bool(b, c) = input\n"
        "%i = argmax %x over axis 1\n%s = sum %x.transpose(0, 2) over axes 0 1\n"
        "%p: f32 = cast %k\n%y = mul %x, %p\n%z = where %m, %y, 0.5\n%w = mul %z, #scale\n"
        "%h: f16 = cast %w\n%j = add %i, %k\n%t = tanh %h\n%l = log %x\n"
        "return %i, %s, %h, %j, %t, %l\n");
  const Results results = run_suite(options_for({"mixed.sinter"}), go_on);
  for (const ResultRow& row : results.rows) {
    EXPECT_EQ(row.title(), "mixed 3x20x7 bf16,i64,bool");
    EXPECT_FALSE(row.failed()) << row.error << *row.max_rel_err << " of " << *row.tolerance;
    EXPECT_EQ(row.checked_elements, 1305) << "all of them";
  }
}

TEST_F(Programs, UseGivenSizesThatNoInputShows) {
  write("grid.sinter",
        "sizes n = 4, m = 8\n%x: f32(n) = input\n%i: f32(m) = iota 0 step 1\n"
        "%y = add %x.unsqueeze(1), %i\nreturn %y\n");
  SuiteOptions options = options_for({"grid.sinter"});
  options.sizes = {"5x9"};
  const Results results = run_suite(options, go_on);
  for (const ResultRow& row : results.rows) {
    EXPECT_EQ(row.error, "");
    EXPECT_EQ(row.checked_elements, 45);
    EXPECT_FALSE(row.failed());
  }
}

TEST_F(Programs, AreCheckedOnADeviceWithItsOwnMemory) {
  register_device("far", [] { return std::make_shared<testing_support::FarDevice>(); });
  const auto device = find_device("far");
  ThreadPool threads(2);
  const WorkloadPtr workload = select_workloads(options_for({"my.sinter"})).workloads.at(0);
  const std::vector<Tensor> inputs = workload->make_inputs(device, threads);
  std::vector<ProviderOutputs> results{{"fused", 1, workload->compiled("fused").call(inputs)}};
  EXPECT_EQ(results[0].outputs[0].device(), "far");
  Checked checked = workload->check(inputs, results, threads).at(0);
  EXPECT_LE(*checked.max_rel_err, *checked.tolerance);
  const float wrong = 2;
  auto* last =
      static_cast<std::byte*>(results[0].outputs[0].impl()->data()) + (12 * 30 - 1) * sizeof wrong;
  device->copy_from_host(last, &wrong, sizeof wrong);
  checked = workload->check(inputs, results, threads).at(0);
  EXPECT_GT(*checked.max_rel_err, *checked.tolerance);
}

TEST_F(Programs, CostWhatTheyReadAndWrite) {
  const WorkloadFacts facts = facts_of(
      "%x: f32(10, 20) = input\n%y: f16(20, 10) = input\n%unused: f64(1000) = input\n"
      "%a = add %x.slice(1, 0, 5), 1.0\n%s = sum %y.transpose(0, 1) over axis 1\nreturn %a, %s\n");
  EXPECT_EQ(facts.input_bytes, 200 * 4 + 200 * 2 + 1000 * 8);
  EXPECT_EQ(facts.output_bytes, 50 * 4 + 10 * 2);
  EXPECT_EQ(facts.bytes_min, 50 * 4 + 200 * 2 + facts.output_bytes);
  EXPECT_EQ(facts.bytes_transposed, 200 * 2);
  EXPECT_EQ(facts.flops, 50 + 200);
  EXPECT_EQ(facts.elements, 1000);
  EXPECT_EQ(facts.dtype, "f32,f16,f64");
}

TEST_F(Programs, AreRefusedWithTheReason) {
  EXPECT_EQ(refusal(options_for({"no.sinter"})),
            "[load] cannot read " + path("no.sinter") + ": No such file or directory");
  write("bad.sinter", "%x: f32(4) = input\n%y = epx %x\n");
  EXPECT_EQ(
      refusal(options_for({"softmax", "bad.sinter"})),
      "[parse] " + path("bad.sinter") + ":2:6: there is no operation 'epx'; did you mean exp?");
  write("other/my.sinter", kSoftmax);
  EXPECT_EQ(refusal(options_for({"my.sinter", "other/my.sinter"})),
            "[suite] two programs are called my: " + path("my.sinter") + " and " +
                path("other/my.sinter") + "; rename one of the files");
  write("softmax.sinter", kSoftmax);
  EXPECT_EQ(
      refusal(options_for({"softmax.sinter"})),
      "[suite] " + path("softmax.sinter") + " has the name of the case softmax; rename the file");
}

TEST_F(Programs, RefuseSizesTheyDoNotDeclare) {
  SuiteOptions options = options_for({"my.sinter"});
  options.sizes = {"5"};
  EXPECT_EQ(refusal(options),
            "[suite] '5' does not give the sizes of " + path("my.sinter") + "; expected rowsxcols");
  options.sizes = {"5x6", "5x6x7"};
  EXPECT_EQ(refusal(options), "[suite] '5x6x7' is a shape of nothing in this run: " +
                                  path("my.sinter") + " has rowsxcols");
  write("flat.sinter", "sizes n = 40\n%x: f16(n) = input\n%y = exp %x\nreturn %y\n");
  options = options_for({"flat.sinter", "softmax"});
  options.shapes.clear();
  options.sizes = {"7"};
  EXPECT_EQ(refusal(options),
            "[suite] '7' is not a shape of the cases; expected ROWSxCOLS, e.g. 4096x128");
}

TEST_F(Programs, AreResumedWithTheSameTextOnly) {
  const SuiteOptions options = options_for({"my.sinter"});
  SuiteOptions again = options;
  again.resumed = run_suite(options, go_on);
  EXPECT_EQ(run_suite(again, go_on).rows.size(), 2u);
  write("my.sinter", std::string(kSoftmax) + "// changed\n");
  EXPECT_NE(refusal(again).find("the run to be resumed had another program my"), std::string::npos);
}

}  // namespace
}  // namespace sinter::suite
