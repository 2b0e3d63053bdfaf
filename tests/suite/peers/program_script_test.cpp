// Scripts beside program files: peers are told of them, and skip programs without one. The peers
// here are shell scripts.
#include <gtest/gtest.h>
#include <sinter/error.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "src/api/tensor_impl.h"
#include "src/runtime/registry.h"
#include "src/suite/measure/runner.h"
#include "src/suite/measure/select.h"
#include "tests/support/errors.h"

namespace sinter::suite {
namespace {

namespace fs = std::filesystem;

constexpr char kProgram[] =
    "sizes rows = 3, cols = 5\n"
    "%x: bf16(rows, cols) = input\n%k: i64(cols) = input\n%on: bool() = input\n"
    "%a = argmax %x over axis 1\n%y = where %on, %x, 0.0\n%z = add %k, 1\n"
    "return %a, %y, %z\n";
constexpr char kHello[] = R"(echo '{"versions": {}, "providers": ["fake"]}'
)";
// Answers with the request in the row's error, without quotes.
constexpr char kEcho[] = R"sh(while read -r request; do
  printf '{"error": "%s"}\n' "$(printf %s "$request" | tr -d '"')"
done
)sh";

bool go_on(const Progress&) { return true; }

class ProgramScripts : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("scripts-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    options_.cases = {write("my.sinter", kProgram)};
    options_.providers = {"fused"};
    options_.seconds = 0.001;
    options_.peers = {"torch"};
    options_.peer_options.interpreter = "/bin/sh";
    options_.peer_options.script = std::string(kHello) + kEcho;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  ResultRow row_of_peer() const {
    const Results results = run_suite(options_, go_on);
    EXPECT_EQ(results.rows.size(), 2u);
    EXPECT_EQ(results.rows.back().provider, "fake");
    return results.rows.back();
  }

  fs::path folder_;
  SuiteOptions options_;
};

TEST_F(ProgramScripts, AreNamedInTheRequestWithTheTensors) {
  const std::string script = write("my.py", "not read here");
  const std::string expected =
      "{case:my,shape:3x5,dtype:bf16,i64,bool,script:" + script +
      ",inputs:[{shape:[3,5],dtype:bf16,values:normal},{shape:[5],dtype:i64,values:integers},"
      "{shape:[],dtype:bool,values:bools}],"
      "outputs:[{shape:[3],dtype:i64},{shape:[3,5],dtype:bf16},{shape:[5],dtype:i64}],device:cpu,";
  const ResultRow row = row_of_peer();
  EXPECT_EQ(row.error.substr(0, expected.size()), expected);
  EXPECT_EQ(row.skipped, "");
  EXPECT_TRUE(row.failed());
}

TEST_F(ProgramScripts, HaveAbsolutePaths) {
  write("my.py", "");
  options_.cases = {fs::relative(folder_ / "my.sinter").string()};
  const std::string error = row_of_peer().error;
  EXPECT_NE(error.find(",script:/"), std::string::npos) << error;
}

TEST_F(ProgramScripts, AreAskedForWhereThereIsNone) {
  fs::create_directories(folder_ / "my.py");  // not a file
  const ResultRow row = row_of_peer();
  EXPECT_EQ(row.skipped,
            "torch measures programs from files by a script beside them; there is no " +
                (folder_ / "my.py").string() +
                ": add it, with a function program(*inputs) that computes the same");
  EXPECT_FALSE(row.failed() || row.timing);
  EXPECT_TRUE(row.reasons.contains("median_us"));
}

TEST_F(ProgramScripts, AreCompiledAhead) {
  options_.peer_options.script =
      R"sh(echo '{"versions": {}, "providers": ["fake"], "compiles_ahead": true}'
read -r request
printf '{"error": "%s"}\n' "$(printf %s "$request" | tr -d '"')"
)sh" + std::string(kEcho);
  options_.cases.push_back(write("without.sinter", kProgram));
  options_.sizes = {"1x2", "2x2", "3x2", "4x2", "5x2", "6x2", "7x2", "8x2", "9x2"};
  const std::string script = write("my.py", "");
  const Results results = run_suite(options_, go_on);
  ASSERT_EQ(results.notes.size(), 1u);
  const std::string& note = results.notes[0];
  EXPECT_NE(note.find("{case:my,shape:9x2,dtype:bf16,i64,bool,script:" + script), std::string::npos)
      << note;
  EXPECT_EQ(note.find("case:without"), std::string::npos) << note;
}

TEST_F(ProgramScripts, HaveToBeTheSameInAResumedRun) {
  SuiteOptions again = options_;
  again.resumed = run_suite(options_, go_on);
  write("my.py", "new");
  EXPECT_NE(sinter::testing::error_of([&] {
              run_suite(again, go_on);
            }).find("the run to be resumed had another script of my: 'none', now"),
            std::string::npos);
  again.peers.clear();
  EXPECT_NO_THROW(run_suite(again, go_on)) << "without a peer nothing reads it";
}

TEST_F(ProgramScripts, RunInTorch) {
  options_.peer_options = {};
  const auto rows_with = [&](const std::string& last_line) {
    write("my.py", "import torch\n\ndef program(x, k, on):\n    " + last_line);
    std::vector<ResultRow> rows = run_suite(options_, go_on).rows;
    rows.erase(rows.begin());
    EXPECT_EQ(rows.size(), 2u);
    return rows;
  };
  std::vector<ResultRow> rows;
  try {
    rows = rows_with("return torch.argmax(x, dim=1), torch.where(on, x, 0.0), k + 1\n");
  } catch (const UserError& error) {
    GTEST_SKIP() << error.what();
  }
  for (const ResultRow& row : rows) {
    EXPECT_EQ(row.error, "") << row.provider;
    if (!row.skipped.empty()) continue;
    EXPECT_TRUE(row.timing) << row.provider;
    EXPECT_EQ(row.max_abs_err, 0) << row.provider;
    EXPECT_EQ(row.checked_elements, 3 + 15 + 5) << row.provider;
  }
  for (const ResultRow& row : rows_with("return x.double().sum(dim=1)\n"))
    EXPECT_EQ(row.error, "the function returns f64(3), but the program i64(3), bf16(3, 5), i64(5)");
  rows = rows_with("return y\n");
  EXPECT_EQ(rows[0].error, "NameError: name 'y' is not defined");
  EXPECT_FALSE(rows[1].timing);
}

// torch_suite/inputs.py draws integers in the same range.
TEST_F(ProgramScripts, GetIntegersLikeSinters) {
  SuiteOptions options;
  options.cases = {write("long.sinter", "%k: i64(4194301) = input\n%y = add %k, 1\nreturn %y\n")};
  const WorkloadPtr workload = select_workloads(options).workloads.at(0);
  devices();
  ThreadPool threads(1);
  const Tensor input = workload->make_inputs(find_device("cpu"), threads).at(0);
  const auto* first = static_cast<const std::int64_t*>(input.impl()->data());
  const auto [least, most] = std::minmax_element(first, first + input.numel());
  EXPECT_EQ(*least, -17);
  EXPECT_EQ(*most, 17);
}

}  // namespace
}  // namespace sinter::suite
