// The tool as its users meet it: the built binary (SINTER_CLI), its output and its exit codes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string text;  // stdout and stderr
};

class Cli : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* tool = std::getenv("SINTER_CLI");
    if (!tool) GTEST_SKIP() << "SINTER_CLI is not set";
    tool_ = tool;
    folder_ = fs::path(::testing::TempDir()) / ("cli-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  Outcome run(const std::string& arguments, const std::string& environment = "") const {
    const std::string command = environment + " '" + tool_ + "' " + arguments + " 2>&1";
    Outcome outcome;
    std::FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) return outcome;
    std::array<char, 4096> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
      outcome.text.append(buffer.data(), got);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }
  void expect(const std::string& arguments, int code, const std::string& part) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome.text;
    EXPECT_NE(outcome.text.find(part), std::string::npos) << arguments << "\n" << outcome.text;
  }
  std::string out() const { return (folder_ / "out").string(); }

  std::string tool_;
  fs::path folder_;
};

TEST_F(Cli, HelpHasAnExampleForEveryCommand) {
  expect("--help", 0, "Example:");
  for (const char* command : {"devices", "suite", "report", "explain", "dump", "cache"})
    expect(std::string(command) + " --help", 0, std::string("Example:\n  sinter ") + command);
}

TEST_F(Cli, VersionAndDevices) {
  expect("--version", 0, "sinter 0.");
  expect("devices", 0, "cpu   ready");
}

TEST_F(Cli, ReportMakesAPageFromResults) {
  const std::string results = out() + "/results.json";
  expect("suite --cases softmax --shapes 8x16 --seconds 0.001 --out '" + out() + "'", 0, results);
  expect("report '" + results + "'", 0, out() + "/report.html");
  expect("report '" + results + "' --compare '" + results + "' --out '" + out() + "/two.html'", 0,
         "two.html");
  EXPECT_GT(fs::file_size(out() + "/two.html"), fs::file_size(out() + "/report.html"));
  expect("report /no/such/results.json", 2, "cannot read /no/such/results.json");
  expect("report", 2, "results");
}

TEST_F(Cli, UsageErrorsExitWithTwo) {
  expect("", 2, "Usage");
  expect("siute", 2, "did you mean suite?");
  expect("explain", 2, "case");
  expect("explain layernrom", 2, "did you mean layernorm?");
  expect("explain softmax --shape 12", 2, "ROWSxCOLS");
  expect("explain softmax --dtype f8", 2, "bf16");
  expect("dump softmax --stage ptx", 2, "there is no stage 'ptx'");
  expect("suite --cases matmul", 2, "cannot run yet");
  expect("suite --set slow", 2, "quick and full");
  expect("suite --no-such-option", 2, "--no-such-option");
  expect("suite --cases softmax --shapes 8x8 --out /proc/nowhere", 2, "/proc/nowhere");
}

TEST_F(Cli, ExplainNeedsNoMemory) {
  expect("explain softmax --shape 65536x65536", 0, "1 kernel");
  expect("explain softmax --shape 33x65 --dtype bf16 --eager", 0, "not fused:");
}

TEST_F(Cli, DumpShowsEveryStage) {
  expect("dump softmax --shape 33x65 --stage graph", 0, "max %0");
  expect("dump softmax --shape 33x65 --stage simplified", 0, "exp");
  expect("dump softmax --shape 33x65 --stage plan", 0, "group");
  expect("dump softmax --shape 33x65 --stage tile", 0, "load");
  const Outcome part = run("dump softmax --shape 33x65 --stage source");
  const Outcome full = run("dump softmax --shape 33x65 --stage source --full");
  EXPECT_EQ(part.code, 0);
  EXPECT_NE(part.text.find("extern \"C\" void sinter_"), std::string::npos);
  EXPECT_NE(part.text.find("--full"), std::string::npos);
  EXPECT_GT(full.text.size(), 2 * part.text.size());
  const Outcome eager = run("dump softmax --shape 33x65 --stage source --eager");
  std::size_t kernels = 0;
  for (std::size_t at = 0; (at = eager.text.find("extern \"C\"", at)) != std::string::npos; ++at)
    ++kernels;
  EXPECT_GT(kernels, 1u);
}

TEST_F(Cli, CacheIsShownAndCleared) {
  const std::string environment = "SINTER_CACHE_DIR=" + (folder_ / "cache").string();
  EXPECT_NE(run("cache", environment).text.find("0 kernels"), std::string::npos);
  EXPECT_EQ(run("explain softmax --shape 33x65", environment).code, 0);
  const Outcome filled = run("cache", environment);
  EXPECT_NE(filled.text.find("1 kernel,"), std::string::npos) << filled.text;
  EXPECT_NE(filled.text.find((folder_ / "cache").string()), std::string::npos);
  EXPECT_NE(run("cache --clear", environment).text.find("cleared: 1 kernel,"), std::string::npos);
  EXPECT_NE(run("cache", environment).text.find("0 kernels"), std::string::npos);
}

TEST_F(Cli, SuiteMeasuresAndWrites) {
  const Outcome outcome = run(
      "suite --cases softmax,bias_gelu --shapes 33x65,8x8 --dtype f32,f16 --seconds 0.001 --out " +
      out());
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("speed-up"), std::string::npos) << outcome.text;
  EXPECT_EQ(outcome.text.find('\x1b'), std::string::npos) << "colours in a pipe";
  const auto json = nlohmann::json::parse(std::ifstream(out() + "/results.json"));
  EXPECT_EQ(json["rows"].size(), 16u);
  EXPECT_NE(json["meta"]["command_line"].get<std::string>().find("--seconds"), std::string::npos);
  EXPECT_TRUE(fs::exists(out() + "/results.csv"));
}

TEST_F(Cli, TheTableFitsIntoAHundredColumns) {
  const Outcome outcome = run("suite --shapes 8x8 --dtype f32,bf16 --seconds 0.001 --out " + out());
  std::istringstream lines(outcome.text);
  std::string line;
  bool in_table = false;
  while (std::getline(lines, line) && !(in_table && line.empty())) {
    in_table |= line.find("speed-up") != std::string::npos;
    if (in_table) {
      EXPECT_LE(line.size(), 100u) << line;
    }
  }
  EXPECT_TRUE(in_table);
}

TEST_F(Cli, AFailedCaseExitsWithOneAndTheRestIsMeasured) {
  const Outcome outcome =
      run("suite --cases softmax --shapes 16777216x16777216,8x8 --out " + out());
  EXPECT_EQ(outcome.code, 1) << outcome.text;
  EXPECT_NE(outcome.text.find("out of memory"), std::string::npos) << outcome.text;
  const auto json = nlohmann::json::parse(std::ifstream(out() + "/results.json"));
  ASSERT_EQ(json["rows"].size(), 4u);
  EXPECT_TRUE(json["rows"][0].contains("error"));
  EXPECT_FALSE(json["rows"][3].contains("error"));
}

TEST_F(Cli, InterruptLeavesTheResultsSoFar) {
  const pid_t child = fork();
  if (child == 0) {
    (void)std::freopen("/dev/null", "w", stdout);
    (void)std::freopen("/dev/null", "w", stderr);
    execl(tool_.c_str(), "sinter", "suite", "--shapes", "8x8", "--out", out().c_str(), nullptr);
    _exit(127);
  }
  const auto rows = [&]() -> std::size_t {
    std::ifstream file(out() + "/results.json");
    if (!file) return 0;
    return nlohmann::json::parse(file)["rows"].size();
  };
  for (int i = 0; i < 600 && rows() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  EXPECT_GE(rows(), 2u);
  EXPECT_LT(rows(), 22u);
}

}  // namespace
