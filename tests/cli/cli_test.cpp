// The tool as its users meet it: the built binary (SINTER_CLI), its output and its exit codes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/cli/tool.h"

namespace {

namespace fs = std::filesystem;
using sinter::test::Outcome;
using Cli = sinter::test::ToolTest;

TEST_F(Cli, HelpHasAnExampleForEveryCommand) {
  expect("--help", 0, "Example:");
  for (const char* command : {"devices", "suite", "compare", "report", "explain", "dump", "tune",
                              "cache", "completion", "help"})
    expect(std::string(command) + " --help", 0, std::string("Example:\n  sinter ") + command);
}

TEST_F(Cli, VersionAndDevices) {
  expect("--version", 0, "sinter 0.");
  expect("devices", 0, "cpu");
}

TEST_F(Cli, ReportMakesAPageFromResults) {
  const std::string results = out() + "/results.json";
  expect("suite --cases softmax --shapes 8x16 --seconds 0.001 --out '" + out() + "'", 0, results);
  expect("report '" + results + "'", 0, out() + "/report.html");
  expect("report '" + results + "' --compare '" + results + "' --out '" + out() + "/two'", 0,
         "two/report.html");
  EXPECT_GT(fs::file_size(out() + "/two/report.html"), fs::file_size(out() + "/report.html"));
  expect("report /no/such/results.json", 2, "[report] cannot read /no/such/results.json");
  expect("dump softmax --stage tile --shape wide", 2, "[dump] 'wide' is not a shape");
  expect("explain conv_add", 2, "[explain] case conv_add cannot run yet");
  expect("report", 2, "results");
}

TEST_F(Cli, ReportOfAFolderLiesInIt) {
  expect("suite --cases softmax --shapes 8x16 --seconds 0.001 --out '" + out() + "'", 0, "Report:");
  fs::remove(out() + "/report.html");
  const Outcome outcome = shell("cd '" + folder_.string() + "' && '" + tool_ + "' report out");
  EXPECT_EQ(outcome.text, "out/report.html\n");
  EXPECT_TRUE(fs::exists(out() + "/report.html"));
  EXPECT_FALSE(fs::exists(folder_ / "report.html"));
  expect("report '" + out() + "' --out /proc/nowhere", 2, "choose another folder with --out");
}

TEST_F(Cli, HelpIsACommandToo) {
  EXPECT_EQ(run("help").text, run("--help").text);
  EXPECT_EQ(run("help suite").text, run("suite --help").text);
  expect("help siute", 2, "there is no command 'siute'; did you mean suite?");
}

TEST_F(Cli, MissingOptionsAreNamedWithTheirValuesAndAnExample) {
  expect("explain", 2, "explain needs CASE: there are pointwise_chain, ");
  expect("explain", 2, "Example:\n  sinter explain ");
  expect("dump", 2, "; and --stage: there are graph, ");
  expect("dump softmax", 2, "dump needs --stage: there are graph, ");
  expect("tune", 2, "tune needs CASE: there are ");
  expect("report", 2, "report needs RESULTS: a results.json of sinter suite");
  expect("compare before.json", 2, "compare needs NOW: the newer results.json");
  expect("completion", 2, "completion needs SHELL: there are bash, zsh and fish");
  expect("suite --cases", 2, "--cases needs a value: there are pointwise_chain, ");
}

TEST_F(Cli, NumbersHaveToBeInRange) {
  for (const char* text : {"nan", "-nan", "inf", "-inf", "-1", "0", "1e9", "1s", "abc", "''"}) {
    const std::string seconds = std::string(" '") + (*text == '\'' ? "" : text) + "'";
    expect("suite --list --seconds" + seconds, 2, "expected a number from 0.001 to 3600");
    expect("tune softmax --budget" + seconds, 2, "expected a number from 0.1 to 1000000");
  }
  expect("suite --list --seconds 0.5", 0, "softmax");
}

TEST_F(Cli, FailIfSlowerNeedsARunToCompareWith) {
  expect("suite --cases softmax --shapes 8x8 --seconds 0.001 --fail-if-slower --out " + out(), 2,
         "add --compare");
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(Cli, ShapeAndShapesAreTheSameOption) {
  EXPECT_EQ(run("dump softmax --stage graph --shapes 33x65").text,
            run("dump softmax --stage graph --shape 33x65").text);
  expect("explain softmax --shapes 33x65", 0, "33x65");
  expect("suite --cases softmax --shape 8x16 --seconds 0.001 --out " + out(), 0, "8x16");
  expect("tune softmax --shape 12", 2, "ROWSxCOLS");
}

TEST_F(Cli, ProgramFilesStandWhereCasesDo) {
  const std::string path = (folder_ / "my.sinter").string();
  std::ofstream(path) << "sizes rows = 32, cols = 64\n%x: f16(rows, cols) = input\n"
                         "%y = exp %x\n%s = sum %y over axis 1\nreturn %s\n";
  expect("explain " + path, 0, "my.sinter 32x64 f16");
  expect("explain " + path + " --shape 100x200", 0, "my.sinter 100x200 f16");
  expect("explain " + path + " --json", 0, "\"shape\": \"32x64\"");
  expect("dump " + path + " --stage graph --shape 3x5", 0, "%0: f16(3, 5) = input");
  expect("dump " + path + " --stage tile --device cuda", 0, "exp");
  expect("explain " + path + " --shape 100", 2, "does not give the sizes of");
  expect("explain " + path + " --shape 100", 2, "expected rowsxcols");
  expect("explain " + path + " --shape 100x200x300", 2, "expected rowsxcols");
  expect("explain " + path + " --dtype f32", 2, "a program has its own types");
  expect("explain no/such.sinter", 2, "[load] cannot read no/such.sinter: No such file");
  std::ofstream(path) << "%x: f32(4) = input\n%y = epx %x\n";
  expect("explain " + path, 2, "my.sinter:2:6: there is no operation 'epx'; did you mean exp?");
}

TEST_F(Cli, TheSuiteMeasuresProgramFiles) {
  const std::string path = (folder_ / "my.sinter").string();
  std::ofstream(path) << "sizes rows = 32, cols = 64\n%x: f16(rows, cols) = input\n"
                         "%y = exp %x\n%s = sum %y over axis 1\nreturn %s\n";
  const std::string options = " --seconds 0.001 --out " + out();
  expect("suite --cases " + path + options, 0, "my    32x64");
  expect("suite --cases " + path + ",softmax --shapes 8x16" + options, 0, "my       8x16");
  EXPECT_NE(shell("cat " + out() + "/report.html").text.find("\"case\":\"my\""), std::string::npos);
  EXPECT_NE(shell("cat " + out() + "/results.csv").text.find("my,8x16,f16,cpu,fused"),
            std::string::npos);
  expect("suite --cases " + path + " --shapes 100" + options, 2, "expected rowsxcols");
  expect("suite --cases " + path + " --dtype f32" + options, 2, "a program has its own types");
  expect("suite --cases " + path + "," + path + options, 2, "two programs are called my");
  expect("suite --cases no/such.sinter" + options, 2, "[load] cannot read no/such.sinter");
}

TEST_F(Cli, APrintedGraphIsAProgram) {
  const std::string path = (folder_ / "printed.sinter").string();
  const std::string printed = run("dump layernorm --stage graph --shape 33x65").text;
  std::ofstream(path) << printed;
  EXPECT_EQ(run("dump " + path + " --stage graph").text, printed);
  EXPECT_EQ(run("dump " + path + " --stage source").text,
            run("dump layernorm --stage source --shape 33x65").text);
}

TEST_F(Cli, UsageErrorsExitWithTwo) {
  expect("", 2, "Usage");
  expect("siute", 2, "there is no command 'siute'; did you mean suite?");
  expect("--verison", 2, "there is no option '--verison'; did you mean --version?");
  expect("suite --shpaes 1x1", 2, "there is no option '--shpaes'; did you mean --shapes?");
  expect("suite --shpaes=1x1", 2, "there is no option '--shpaes'; did you mean --shapes?");
  expect("dump softmax --stgae tile", 2, "did you mean --stage?");
  expect("suite --shpaes 1x1", 2, "sinter suite --help");
  expect("explain softmax layernorm", 2, "'layernorm' is one argument too many");
  expect("explain layernrom", 2, "did you mean layernorm?");
  expect("explain softmax --shape 12", 2, "ROWSxCOLS");
  expect("explain softmax --dtype f8", 2, "there are f32, f16, bf16 and f64");
  expect("explain softmax --dtype bf61", 2, "there is no type 'bf61'; did you mean bf16?");
  expect("dump softmax --stage pxt", 2, "there is no stage 'pxt'; did you mean ptx?");
  expect("dump softmax --stage ptx", 2, "go with --device cuda");
  expect("dump softmax --stage launches --device cuda", 2, "needs the device");
  expect("dump softmax --stage tile --arch sm_80", 2, "go with --device cuda");
  expect("dump softmax --stage tile --device cuda --arch sm_81", 2,
         "there is no architecture 'sm_81'; did you mean sm_80?");
  expect("dump softmax --stage sorce", 2, "did you mean source?");
  expect("suite --cases softmax --device cup", 2, "there is no device 'cup'; did you mean cpu?");
  expect("suite --set qick", 2, "there is no set 'qick'; did you mean quick?");
  expect("suite --dtype f32,f23", 2, "there is no type 'f23'; did you mean f32?");
  expect("suite --providers fused,eagre", 2, "did you mean eager?");
  expect("completion bsh", 2, "there is no shell 'bsh'; did you mean bash?");
  expect("suite --cases matmul", 2, "cannot run yet");
  expect("suite --set slow", 2, "quick, grid and random");
  expect("suite --no-such-option", 2, "--no-such-option");
  expect("suite --cases softmax --shapes 8x8 --out /proc/nowhere", 2,
         "cannot create the directory /proc/nowhere");
  expect("suite --cases softmax --shapes 8x8 --out /proc/nowhere", 2, "with --out");
  expect("suite --cases nothing_like_it", 2, "there are pointwise_chain, ");
  expect("report /no/such.json", 2, "expected a results.json that sinter suite wrote");
}

TEST_F(Cli, ExitCodesAreInTheHelp) {
  expect("--help", 0, "Exit codes:\n  0 ");
  expect("--help", 0, "\n  1  something failed");
  expect("--help", 0, "\n  2  invalid usage");
}

TEST_F(Cli, ExplainNeedsNoMemory) {
  expect("explain softmax --shape 65536x65536", 0, "1 kernel");
  expect("explain softmax --shape 33x65 --dtype bf16 --eager", 0, "not fused:");
}

TEST_F(Cli, TwoProcessesGiveTheSameText) {
  // Addresses differ between processes: nothing may be ordered by them.
  for (const char* device : {"--device cpu", "--device cuda --arch sm_90a"})
    for (const char* name : {"softmax", "norm_chain", "bias_gelu", "bias_dropout_add_t"})
      for (const char* stage : {"plan", "tile", "source"}) {
        const std::string command =
            fmt::format("dump {} --shape 300x1000 --dtype f16 --stage {} {}", name, stage, device);
        const Outcome first = run(command);
        EXPECT_EQ(first.code, 0) << command << "\n" << first.text;
        EXPECT_EQ(first.text, run(command).text) << command;
      }
}

TEST_F(Cli, DumpShowsEveryStage) {
  expect("dump softmax --shape 33x65 --stage graph", 0, "max %0");
  expect("dump softmax --shape 33x65 --stage passes", 0, "// fold_constants: no change\n");
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
  EXPECT_NE(filled.text.find("of at most 1024 MiB"), std::string::npos) << filled.text;
  EXPECT_NE(filled.text.find("SINTER_CACHE_LIMIT_MIB"), std::string::npos) << filled.text;
  expect_with(environment + " SINTER_CACHE_LIMIT_MIB=0", "cache", 0, "no limit");
  expect_with(environment + " SINTER_CACHE_LIMIT_MIB=some", "cache", 2, "whole number");
  EXPECT_NE(run("cache --clear", environment).text.find("cleared: 1 kernel,"), std::string::npos);
  EXPECT_NE(run("cache", environment).text.find("0 kernels"), std::string::npos);
}

TEST_F(Cli, CacheShowsTheTuningFileAndClearKeepsIt) {
  const std::string file = (folder_ / "tuned.json").string();
  const std::string environment =
      "SINTER_CACHE_DIR=" + (folder_ / "cache").string() + " SINTER_TUNING_FILE='" + file + "'";
  EXPECT_NE(run("cache", environment).text.find("tuned configs go to " + file), std::string::npos);
  std::ofstream(file) << R"({"sinter_tuning": 1, "devices": {"GPU sm_90": {"2^4 f32: exp #1": {
      "form": "pointwise", "threads": 256, "threads_per_row": 256, "vector": 4, "cluster": 1,
      "tile_rows": 1, "vectors": 2, "blocks_at_once": 0, "prefetch": 0, "caching": "any"}}}})";
  EXPECT_NE(run("cache --clear", environment).text.find("1 tuned config in " + file),
            std::string::npos);
  const auto json = nlohmann::json::parse(run("cache --json", environment).text);
  EXPECT_EQ(json["tuning"]["file"], file);
  EXPECT_EQ(json["tuning"]["configs"], 1);
  std::ofstream(file) << "nonsense";
  const Outcome damaged = run("cache", environment);
  EXPECT_EQ(damaged.code, 0);
  EXPECT_NE(damaged.text.find(file + " is not used"), std::string::npos) << damaged.text;
  expect_with("SINTER_TUNING_FILE=here.json", "cache", 2, "expected an absolute path");
}

TEST_F(Cli, TuneIsForGpusAlone) {
  expect("tune sofmax", 2, "did you mean softmax?");
  expect("tune softmax --shapes 12", 2, "ROWSxCOLS");
  expect("tune softmax --budget 0", 2, "--budget");
  expect("tune softmax --device cpu", 2, "tuning is for GPUs");
  expect("tune softmax --device simt", 2, "its times say nothing of a GPU's");
  // Options do not accept a case's name.
  expect("tune --shapes 8x8,16x16 layernrom --device cpu", 2, "did you mean layernorm?");
  if (run("tune softmax --shapes 8x8 --budget 0.1", "SINTER_TUNING_FILE=" + out()).code == 1)
    expect("tune softmax --shapes 8x8", 1, "NVIDIA");  // no GPU here: says what is missing
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
  EXPECT_TRUE(fs::exists(out() + "/report.html"));
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

TEST_F(Cli, AFailedCaseExitsWithOne) {
  const Outcome outcome = run("suite --cases softmax --shapes 9x7 --out " + out(),
                              "SINTER_CXX=/bin/false SINTER_CACHE_DIR=" + out() + "/cache");
  EXPECT_EQ(outcome.code, 1) << outcome.text;
  EXPECT_NE(outcome.text.find("Failed:"), std::string::npos) << outcome.text;
  const auto json = nlohmann::json::parse(std::ifstream(out() + "/results.json"));
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_TRUE(json["rows"][0].contains("error"));
}

TEST_F(Cli, RunsThatDoNotFitInMemoryAreReportedAsSkipped) {
  const Outcome outcome =
      run("suite --cases softmax --shapes 16777216x16777216,8x8 --seconds 0.001 --out " + out());
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("2 rows were skipped"), std::string::npos) << outcome.text;
  const auto json = nlohmann::json::parse(std::ifstream(out() + "/results.json"));
  ASSERT_EQ(json["rows"].size(), 4u);
  EXPECT_TRUE(json["rows"][0].contains("skipped"));
  EXPECT_FALSE(json["rows"][3].contains("skipped"));
}

// A run's files with one case's times changed.
void slow_down(const std::string& from, const std::string& to, const std::string& name,
               double factor) {
  auto json = nlohmann::json::parse(std::ifstream(from));
  for (auto& row : json["rows"])
    if (row["case"] == name)
      for (const char* field : {"median_us", "p20_us", "p80_us", "min_us", "limit_ratio",
                                "limit_ratio_p20", "limit_ratio_p80"})
        row[field] = row[field].get<double>() * factor;
  std::ofstream(to) << json;
}

TEST_F(Cli, CompareFindsASlowCase) {
  const std::string before = (folder_ / "before.json").string();
  const std::string after = (folder_ / "after.json").string();
  ASSERT_EQ(
      run("suite --cases softmax,layernorm,bias_gelu --shapes 64x64,65x65,66x66 --seconds 0.02 "
          "--out " +
          out())
          .code,
      0);
  slow_down(out() + "/results.json", before, "softmax", 1);
  slow_down(out() + "/results.json", after, "softmax", 10);
  expect("compare " + before + " " + after, 0, "slower");
  expect("compare --fail-if-slower " + before + " " + after, 1, "softmax");
  expect("compare --fail-if-slower " + before + " " + before, 0, "0 rows slower");
  const Outcome json = run("compare --json " + before + " " + after);
  EXPECT_EQ(nlohmann::json::parse(json.text)["worse"], true);
  expect("compare " + before + " /no/such.json", 2, "cannot read");
  expect("suite --compare /no/such.json --out " + out(), 2, "cannot read");
}

TEST_F(Cli, SuiteMeasuresAgainWhatLooksSlower) {
  const std::string before = (folder_ / "before.json").string();
  const std::string arguments =
      "suite --cases softmax,layernorm --shapes 64x64,65x65 --seconds 0.02 --json --out " + out();
  ASSERT_EQ(run(arguments).code, 0);
  // An older run in which everything was a thousand times faster.
  slow_down(out() + "/results.json", before, "softmax", 0.001);
  const Outcome outcome = run(arguments + " --fail-if-slower --compare " + before);
  EXPECT_EQ(outcome.code, 1) << outcome.text;
  const auto json = nlohmann::json::parse(outcome.text.substr(outcome.text.find('{')));
  EXPECT_EQ(json["comparison"]["worse"], true);
  const auto results = nlohmann::json::parse(std::ifstream(out() + "/results.json"));
  ASSERT_EQ(results["rows"].size(), 8u);
  EXPECT_NE(results["meta"]["notes"].dump().find("measured again"), std::string::npos);
  EXPECT_TRUE(fs::exists(out() + "/results.previous.json"));
}

TEST_F(Cli, ResumeMeasuresOnlyWhatIsMissing) {
  const std::string arguments = "suite --cases softmax,layernorm --seconds 0.01 --out " + out();
  ASSERT_EQ(run(arguments + " --shapes 16x16").code, 0);
  const Outcome outcome = run(arguments + " --shapes 16x16,24x24 --resume");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.text.find("/8 softmax 16x16"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("/8 softmax 24x24"), std::string::npos) << outcome.text;
  const auto json = nlohmann::json::parse(std::ifstream(out() + "/results.json"));
  EXPECT_EQ(json["rows"].size(), 8u);
  expect("suite --cases softmax --seconds 0.5 --resume --out " + out(), 2, "had another time");
  expect("suite --resume --out " + out() + "/nothing", 2, "cannot read");
  // A typo costs nothing.
  expect("suite --cases sofmax --out " + out(), 2, "softmax");
  EXPECT_TRUE(fs::exists(out() + "/results.json"));
}

TEST_F(Cli, InterruptLeavesTheResultsSoFar) {
  const pid_t child = fork();
  if (child == 0) {
    if (!std::freopen("/dev/null", "w", stdout)) _exit(126);
    if (!std::freopen("/dev/null", "w", stderr)) _exit(126);
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

// The compiler reports that it runs, then takes its time.
TEST_F(Cli, InterruptedCompilationsLeaveNothing) {
  const std::string started = (folder_ / "started").string();
  const std::string script = (folder_ / "cxx").string();
  const std::string temporary = (folder_ / "tmp").string();
  std::ofstream(script) << "#!/bin/sh\ntouch $TMPDIR/cc1234.o\necho > " << started
                        << "\nexec sleep 60\n";
  fs::permissions(script, fs::perms::owner_all);
  fs::create_directory(temporary);
  for (const int signal : {SIGINT, SIGTERM}) {
    fs::remove(started);
    const pid_t child = fork();
    if (child == 0) {
      if (!std::freopen("/dev/null", "w", stderr)) _exit(126);
      setenv("TMPDIR", temporary.c_str(), 1);
      setenv("SINTER_CXX", script.c_str(), 1);
      setenv("SINTER_CACHE_DIR", (folder_ / "cache").c_str(), 1);
      execl(tool_.c_str(), "sinter", "explain", "softmax", "--shape", "33x65", nullptr);
      _exit(127);
    }
    for (int i = 0; i < 1200 && !fs::exists(started); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    EXPECT_TRUE(fs::is_empty(temporary));
  }
}

}  // namespace
