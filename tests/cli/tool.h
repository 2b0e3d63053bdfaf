// Runs the built tool (SINTER_CLI) in a shell. Tests that need it derive from ToolTest and are
// skipped if it is not built.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace sinter::test {

struct Outcome {
  int code = -1;
  std::string text;
};

class ToolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* tool = std::getenv("SINTER_CLI");
    if (!tool) GTEST_SKIP() << "SINTER_CLI is not set";
    tool_ = tool;
    folder_ = std::filesystem::path(::testing::TempDir()) / ("cli-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // stdout and stderr.
  Outcome run(const std::string& arguments, const std::string& environment = "") const {
    return shell(environment + " '" + tool_ + "' " + arguments + " 2>&1");
  }
  // Any command of the shell; just its stdout.
  static Outcome shell(const std::string& command) {
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
    expect_with("", arguments, code, part);
  }
  void expect_with(const std::string& environment, const std::string& arguments, int code,
                   const std::string& part) const {
    const Outcome outcome = run(arguments, environment);
    EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome.text;
    EXPECT_NE(outcome.text.find(part), std::string::npos) << arguments << "\n" << outcome.text;
  }
  std::string out() const { return (folder_ / "out").string(); }

  std::string tool_;
  std::filesystem::path folder_;
};

}  // namespace sinter::test
