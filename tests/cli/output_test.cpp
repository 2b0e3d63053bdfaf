// The tool's output: JSON, readers that close the pipe, full disks, colours.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/findings.h"
#include "cli/json_output.h"
#include "src/suite/cases/case.h"
#include "tests/cli/tool.h"

namespace {

using nlohmann::json;

class Output : public sinter::test::ToolTest {
 protected:
  // stdout only, which must be JSON and nothing else.
  json parsed(const std::string& arguments, const std::string& environment = "") const {
    const auto outcome = shell(environment + " '" + tool_ + "' " + arguments + " 2>/dev/null");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_TRUE(json::accept(outcome.text)) << outcome.text;
    return json::parse(outcome.text, nullptr, false);
  }
  // In bash: the tool's exit code in a pipe, and its stderr.
  sinter::test::Outcome piped(const std::string& arguments, const std::string& reader) const {
    return shell("bash -c \"'" + tool_ + "' " + arguments + " 2>'" + errors() + "' | " + reader +
                 " >/dev/null; exit \\${PIPESTATUS[0]}\"");
  }
  std::string errors() const { return (folder_ / "errors").string(); }
  std::string errors_text() const {
    std::ifstream file(errors());
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(Output, DevicesAsJson) {
  const json found = parsed("devices --json");
  ASSERT_FALSE(found["devices"].empty());
  EXPECT_EQ(found["devices"][0]["name"], "cpu");
  ASSERT_FALSE(found["tools"].empty());
  for (const char* list : {"devices", "tools"})
    for (const json& each : found[list])
      for (const char* field : {"name", "state", "text", "cost"})
        EXPECT_TRUE(each.at(field).is_string()) << each;
}

TEST_F(Output, DevicesSayWhatIsMissingAndItsCost) {
  const json no_compiler = parsed("devices --json", "SINTER_CXX=none");
  EXPECT_EQ(no_compiler["devices"][0]["state"], "limited");
  EXPECT_EQ(no_compiler["tools"][0]["name"], "compiler");
  EXPECT_EQ(no_compiler["tools"][0]["state"], "no");
  EXPECT_NE(no_compiler["tools"][0]["cost"].get<std::string>().find("slower"), std::string::npos);

  const json broken = parsed("devices --json", "SINTER_CXX=/bin/false");
  EXPECT_EQ(broken["devices"][0]["state"], "limited");
  EXPECT_EQ(broken["tools"][0]["state"], "no");
  EXPECT_EQ(broken["tools"][0]["text"], "/bin/false compiles nothing: exit status 1");
  EXPECT_NE(broken["tools"][0]["cost"].get<std::string>().find("fail"), std::string::npos);

  const std::string refusal = "[SINTER_CXX] '/nonexistent/c++' is not a program that can be run";
  const json wrong = parsed("devices --json", "SINTER_CXX=/nonexistent/c++");
  EXPECT_EQ(wrong["devices"][0]["state"], "no");
  for (const json& text : {wrong["devices"][0]["text"], wrong["tools"][0]["text"]})
    EXPECT_TRUE(text.get<std::string>().starts_with(refusal)) << text;
  EXPECT_EQ(wrong["tools"][0]["cost"], "the devices cpu and simt cannot be used");
  expect_with("SINTER_CXX=/nonexistent/c++", "suite --shapes 8x8", 2, refusal);

  const json no_cache = parsed("devices --json", "SINTER_CACHE_DIR=/proc/nowhere");
  EXPECT_EQ(no_cache["tools"][1]["name"], "kernel cache");
  EXPECT_EQ(no_cache["tools"][1]["state"], "no");
  EXPECT_NE(no_cache["tools"][1]["text"].get<std::string>().find("/proc/nowhere"),
            std::string::npos);

  if (std::thread::hardware_concurrency() > 1) {
    const json one_thread = parsed("devices --json", "SINTER_NUM_THREADS=1");
    EXPECT_NE(one_thread["devices"][0]["cost"].get<std::string>().find("kernels use 1 of "),
              std::string::npos);
  }

  const json no_python = parsed("devices --json", "PATH=" + folder_.string());
  EXPECT_EQ(no_python["tools"][2]["name"], "PyTorch");
  EXPECT_EQ(no_python["tools"][2]["text"], "no python3 in PATH");
}

TEST_F(Output, APythonThatHangsIsNotWaitedFor) {
  const std::string python = (folder_ / "python3").string();
  std::ofstream(python) << "#!/bin/sh\nexec /bin/sleep 30\n";
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  const json found = parsed("devices --json", "PATH=" + folder_.string());
  EXPECT_EQ(found["tools"][2]["state"], "unknown");
}

TEST_F(Output, CacheAsJson) {
  const std::string environment = "SINTER_CACHE_DIR=" + (folder_ / "cache").string();
  EXPECT_EQ(run("explain softmax --shape 33x65", environment).code, 0);
  const json kept = parsed("cache --json", environment);
  EXPECT_EQ(kept["directory"], (folder_ / "cache").string());
  EXPECT_EQ(kept["kernels"], 1);
  EXPECT_GT(kept["bytes"], 0);
  EXPECT_EQ(kept["limit_bytes"], std::uint64_t{1} << 30);
  EXPECT_EQ(kept["cleared"], false);
  EXPECT_TRUE(
      parsed("cache --json", environment + " SINTER_CACHE_LIMIT_MIB=0")["limit_bytes"].is_null());
  EXPECT_EQ(parsed("cache --json --clear", environment)["cleared"], true);
  EXPECT_EQ(parsed("cache --json", environment)["kernels"], 0);
}

TEST_F(Output, ExplainAsJson) {
  const json fused = parsed("explain softmax --shape 33x65 --dtype bf16 --json");
  EXPECT_EQ(fused["case"], "softmax");
  EXPECT_EQ(fused["shape"], "33x65");
  EXPECT_EQ(fused["dtype"], "bf16");
  EXPECT_EQ(fused["program"]["kernels"], 1);
  EXPECT_EQ(fused["program"]["bytes"], 2 * 33 * 65 * 2);
  EXPECT_EQ(fused["plan"]["kernels"].size(), 1u);
  const json eager = parsed("explain softmax --shape 33x65 --eager --json");
  EXPECT_EQ(eager["fused"], false);
  EXPECT_GT(eager["plan"]["kernels"].size(), 1u);
  EXPECT_TRUE(std::any_of(eager["plan"]["edges"].begin(), eager["plan"]["edges"].end(),
                          [](const json& edge) { return !edge["reason"].empty(); }));
}

TEST_F(Output, ErrorsAreTextOnStderrWithJsonToo) {
  const auto outcome = shell("'" + tool_ + "' explain sofmax --json 2>'" + errors() + "'");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.text, "");
  EXPECT_NE(errors_text().find("did you mean softmax?"), std::string::npos) << errors_text();
}

TEST(CasesJson, HasEveryCase) {
  const json cases = json::parse(sinter::cli::cases_json());
  ASSERT_EQ(cases.size(),
            sinter::suite::all_cases().size() + sinter::suite::pending_cases().size());
  EXPECT_EQ(cases.front()["runs"], true);
  EXPECT_TRUE(cases.front().contains("formula"));
  EXPECT_EQ(cases.back()["runs"], false);
  EXPECT_TRUE(cases.back().contains("reason"));
}

TEST(JsonText, SurvivesBytesThatAreNoText) {
  EXPECT_TRUE(json::accept(sinter::cli::json_text({{"path", "/tmp/\xff"}})));
}

TEST_F(Output, AReaderThatLeavesIsNoError) {
  for (const char* arguments :
       {"explain softmax --shape 33x65", "--help", "completion bash",
        // More than stdout's buffer holds.
        "dump double_softmax --shape 33x65 --stage source --full --eager"}) {
    for (const char* reader : {"true", "head -1"}) {
      EXPECT_EQ(piped(arguments, reader).code, 0) << arguments << " | " << reader;
      EXPECT_EQ(errors_text(), "") << arguments << " | " << reader;
    }
  }
}

TEST_F(Output, AFullDiskIsAnError) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  for (const char* arguments :
       {"explain softmax --shape 33x65", "--help", "devices --json",
        "dump double_softmax --shape 33x65 --stage source --full --eager"}) {
    EXPECT_EQ(run(std::string(arguments) + " >/dev/full").code, 1) << arguments;
  }
  EXPECT_EQ(shell("'" + tool_ + "' cache >/dev/full 2>'" + errors() + "'").code, 1);
  EXPECT_EQ(errors_text(), "sinter: cannot write the output: No space left on device\n");
}

TEST_F(Output, ABrokenStderrIsNoCrash) {
  EXPECT_EQ(shell("'" + tool_ + "' explain sofmax 2>/dev/full").code, 2);
  EXPECT_EQ(shell("'" + tool_ + "' explain sofmax 2>&-").code, 2);
  EXPECT_EQ(shell("'" + tool_ + "' siute 2>&-").code, 2);
}

TEST_F(Output, ColoursAreForTerminalsThatWantThem) {
  EXPECT_EQ(run("devices").text.find('\x1b'), std::string::npos);
  if (shell("command -v script").code != 0) GTEST_SKIP() << "no script(1) to make a terminal";
  const auto on_terminal = [&](const std::string& environment) {
    return shell("env " + environment + " script -qec \"'" + tool_ + "' devices\" /dev/null").text;
  };
  EXPECT_NE(on_terminal("-u NO_COLOR TERM=xterm").find("\x1b[32mready"), std::string::npos);
  EXPECT_EQ(on_terminal("NO_COLOR=1 TERM=xterm").find("\x1b[32m"), std::string::npos);
  EXPECT_EQ(on_terminal("-u NO_COLOR TERM=dumb").find("\x1b[32m"), std::string::npos);
}

TEST(Findings, TextHasARowForEachAndItsCost) {
  using sinter::cli::Finding;
  const sinter::cli::Findings findings{
      {{"cpu", Finding::State::ready, "2 threads", ""}},
      {{"counters", Finding::State::missing, "not allowed", "no bytes measured"}}};
  EXPECT_EQ(sinter::cli::findings_text(findings, 80),
            "name      state  found\n"
            "cpu       ready  2 threads\n"
            "\n"
            "counters  no     not allowed\n"
            "                 so: no bytes measured\n");
}

TEST(Findings, LongTextsAreBrokenBetweenWords) {
  using sinter::cli::Finding;
  const sinter::cli::Findings findings{
      {{"cpu", Finding::State::limited, "some words that are longer than a line has room for",
        "it is slower than it could be elsewhere"}},
      {}};
  EXPECT_EQ(sinter::cli::findings_text(findings, 40),
            "name  state    found\n"
            "cpu   limited  some words that are\n"
            "               longer than a line has\n"
            "               room for\n"
            "               so: it is slower than it\n"
            "               could be elsewhere\n"
            "\n");
}

}  // namespace
