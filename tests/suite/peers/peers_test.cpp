// Peers: their answers become rows, and the sweep continues however they fail. The peers here are
// shell scripts; the real one runs if there is PyTorch.
#include "src/suite/peers/peers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sinter/device.h>
#include <sinter/error.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "src/runtime/registry.h"
#include "src/suite/measure/runner.h"
#include "src/suite/peers/peer_scripts.h"

namespace sinter::suite {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::Test;

const std::string kHello =
    R"(echo '{"versions": {"fake": "1.2"}, "providers": ["fake_a", "fake_b"]}'
)";
// Answers every request; `samples` is the number of requests so far.
const std::string kAnswer = R"(n=0
while read -r request; do
  n=$((n + 1))
  echo '{"rows": [{"provider": "fake_a", "median_us": 3.5, "samples": '$n',
                   "max_rel_err": "nan", "reasons": {"kernels": "who knows"}},
                  {"provider": "fake_b", "skipped": "not today"}]}' | tr -d '\n'
  echo
done
)";

PeerOptions shell(const std::string& script) {
  PeerOptions options;
  options.interpreter = "/bin/sh";
  options.script = script;
  return options;
}

class Peers : public Test {
 protected:
  Peers() {
    devices();
    device_ = find_device("cpu");
  }

  std::vector<ResultRow> ask(Peer& peer) {
    return peer.measure({case_workload(find_case("softmax"), {8, 16}, DType::f32), {}, 0.001},
                        *device_);
  }
  std::string error_of(Peer& peer) {
    const std::vector<ResultRow> rows = ask(peer);
    EXPECT_EQ(rows.size(), 2u) << "a row a provider, whatever happens";
    EXPECT_EQ(rows.front().error, rows.back().error);
    EXPECT_EQ(rows.front().provider, "fake_a");
    return rows.front().error;
  }
  static std::string start_error(const PeerOptions& options) {
    try {
      const Peer peer("torch", "cpu", options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }

  std::shared_ptr<Device> device_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Peers, AnswersBecomeRows) {
  Peer peer("torch", "cpu", shell(kHello + kAnswer));
  EXPECT_EQ(peer.versions().at("fake"), "1.2");
  const std::vector<ResultRow> rows = ask(peer);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].case_name, "softmax");
  EXPECT_EQ(rows[0].shape, "8x16");
  EXPECT_EQ(rows[0].dtype, "f32");
  EXPECT_EQ(rows[0].device, "cpu");
  EXPECT_EQ(rows[0].provider, "fake_a");
  EXPECT_EQ(rows[0].bytes_min, 2 * 8 * 16 * 4);
  EXPECT_EQ(rows[0].flops, 5 * 8 * 16);
  EXPECT_EQ(rows[0].timing->median_us, 3.5);
  EXPECT_TRUE(std::isnan(*rows[0].max_rel_err));
  EXPECT_FALSE(rows[0].kernels);
  EXPECT_EQ(rows[0].reasons.at("kernels"), "who knows");
  EXPECT_FALSE(rows[0].failed());
  EXPECT_EQ(rows[1].skipped, "not today");
  EXPECT_FALSE(rows[1].timing);
  EXPECT_EQ(ask(peer)[0].timing->samples, 2) << "the same process answers again";
}

TEST_F(Peers, SeeTheRequestAndTheDevice) {
  Peer peer("torch", "cpu", shell(kHello + R"(read -r request
printf '%s\n' "$request" | sed "s/.*/{\"error\": \"$1 $(printf %s "$request" | tr -d '"')\"}/"
read -r end
)"));
  const std::string error = error_of(peer);
  EXPECT_TRUE(has(error,
                  "cpu {case:softmax,shape:8x16,dtype:f32,"
                  "inputs:[{shape:[8,16],dtype:f32,values:normal,row_axis:0}],"
                  "outputs:[{shape:[8,16],dtype:f32,row_axis:0}],device:cpu,seconds:0.001,"))
      << error;
}

TEST_F(Peers, AnErrorAnswerIsTheRowsErrorAndThePeerStays) {
  Peer peer("torch", "cpu", shell(kHello + R"(read -r request
echo '{"error": "no such case here"}'
n=41
)" + kAnswer.substr(kAnswer.find('\n') + 1)));
  EXPECT_EQ(error_of(peer), "no such case here");
  EXPECT_EQ(ask(peer)[0].timing->samples, 42) << "not restarted";
}

// The first process runs `first`; the restarted one answers.
std::string fails_once(const std::string& first) {
  return kHello + "if [ ! -e \"$0.mark\" ]; then\n: > \"$0.mark\"\nread -r request\n" + first +
         "\nfi\n" + kAnswer;
}

TEST_F(Peers, AreStartedAgainAfterGarbage) {
  for (const char* garbage : {"Segmentation fault", "[1, 2]", R"({"rows": 7})", R"({"rows": [{}]})",
                              R"({"rows": [{"provider": "fake_a", "median_us": "fast"}]})"}) {
    Peer peer("torch", "cpu",
              shell(fails_once("echo '" + std::string(garbage) + "'; read -r end; exit 0")));
    EXPECT_TRUE(has(error_of(peer), "the peer failed: it")) << garbage;
    EXPECT_EQ(ask(peer)[0].timing->samples, 1) << garbage;
  }
}

TEST_F(Peers, AreStartedAgainAfterDying) {
  Peer peer("torch", "cpu",
            shell(fails_once("echo doomed >&2; echo 'out of luck' >&2; printf '{\"ro'; exit 3")));
  const std::string error = error_of(peer);
  EXPECT_TRUE(has(error, "ended with exit status 3; it wrote: doomed\nout of luck")) << error;
  EXPECT_EQ(ask(peer)[0].timing->samples, 1);
}

TEST_F(Peers, AreStartedAgainAfterDyingBetweenMeasurements) {
  const std::string answer_once = R"(echo '{"rows": []}'; exit 0)";
  Peer peer("torch", "cpu", shell(fails_once(answer_once)));
  EXPECT_TRUE(has(error_of(peer), "no row of it")) << "rows that are left out are failures";
  std::vector<ResultRow> rows = ask(peer);  // its end may be noticed before or after
  if (!rows[0].error.empty()) rows = ask(peer);
  EXPECT_EQ(rows[0].error, "");
}

TEST_F(Peers, AreKilledWhenTheyHang) {
  PeerOptions options = shell(fails_once("sleep 1000"));
  options.answer_limit = milliseconds(200);
  Peer peer("torch", "cpu", options);
  EXPECT_TRUE(has(error_of(peer), "did not answer within 0.2 s"));
  EXPECT_EQ(ask(peer)[0].timing->samples, 1);
}

TEST_F(Peers, AreNotStartedAgainForEver) {
  PeerOptions options = shell(kHello + "read -r request\nexit 9\n");
  options.restarts = 2;
  Peer peer("torch", "cpu", options);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(has(error_of(peer), "exit status 9")) << i;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(has(error_of(peer), "too often")) << i;
}

TEST_F(Peers, EndWithUs) {
  pid_t pid = 0;
  {
    const Peer peer("torch", "cpu", shell(R"(echo '{"versions": {"pid": "'$$'"}, "providers": []}'
read -r request
)"));
    pid = std::stoi(peer.versions().at("pid"));
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(Peers, ThatCannotStartAreTheUsersError) {
  PeerOptions options = shell("sleep 1000\n");
  options.hello_limit = milliseconds(200);
  EXPECT_TRUE(has(start_error(options), "did not answer within 0.2 s"));
  EXPECT_TRUE(has(start_error(shell("echo 'so it is' >&2; exit 4\n")),
                  "exit status 4; it wrote: so it is"));
  EXPECT_TRUE(has(start_error(shell("echo hello\n")), "it answered 'hello'"));
  EXPECT_TRUE(has(start_error(shell("echo '{}'\n")), "its hello is wrong"));
  EXPECT_EQ(start_error(shell(R"(echo '{"error": "sees no CUDA device"}')")),
            "[suite] --peers torch on cpu: sees no CUDA device");

  options = shell("");
  options.interpreter = "/nonexistent/python3";
  EXPECT_EQ(start_error(options),
            "[suite] --peers torch needs PyTorch: `/nonexistent/python3 -c 'import torch'` says it "
            "could not be started: No such file or directory; pip install torch, or set "
            "SINTER_PYTHON to a Python that has it");
  EXPECT_TRUE(has(start_error(shell("echo '{\"missing\": \"No module\"}'\n")),
                  "`/bin/sh -c 'import torch'` says No module; pip install torch"));
}

TEST_F(Peers, UnknownNamesAreRefused) {
  EXPECT_NO_THROW(check_peer_name("torch"));
  EXPECT_THROW(check_peer_name("troch"), UserError);
  SuiteOptions options;
  options.shapes = {{8, 8}};
  options.peers = {"torhc"};
  try {
    run_suite(options, [](const Progress&) -> bool { throw std::logic_error("it ran"); });
    FAIL();
  } catch (const UserError& error) {
    EXPECT_TRUE(has(error.what(), "no peer 'torhc'; did you mean torch?")) << error.what();
  }
}

TEST_F(Peers, RowsStandBesideOurOwn) {
  SuiteOptions options;
  options.cases = {"softmax", "h_red_pw"};
  options.shapes = {{8, 16}};
  options.seconds = 0.001;
  options.peers = {"torch"};
  options.peer_options = shell(kHello + kAnswer);
  const Results results = run_suite(options, [](const Progress&) { return true; });
  EXPECT_EQ(results.versions.at("fake"), "1.2");
  ASSERT_EQ(results.rows.size(), 8u);
  for (std::size_t i : {0u, 4u}) {
    EXPECT_EQ(results.rows[i].provider, "eager");
    EXPECT_EQ(results.rows[i + 2].provider, "fake_a");
    EXPECT_EQ(results.rows[i + 2].case_name, results.rows[i].case_name);
    EXPECT_EQ(results.rows[i + 2].limit_us, results.rows[i].limit_us);
    EXPECT_EQ(results.rows[i + 2].bytes_min, results.rows[i].bytes_min);
    EXPECT_EQ(results.rows[i + 2].flops, results.rows[i].flops);
  }
  EXPECT_EQ(from_json(to_json(results), "here").rows[2].timing->median_us, 3.5);
}

const std::string kHelloAhead =
    R"(echo '{"versions": {}, "providers": ["fake_a", "fake_b"], "compiles_ahead": true}'
)";
// Compiles ahead of time with `ahead`, and answers everything else.
std::string compiles(const std::string& ahead) {
  return kHelloAhead + R"(while read -r request; do
  case "$request" in
    *compile_ahead*)
)" + ahead +
         R"( ;;
    *) echo '{"rows": [{"provider": "fake_a", "median_us": 3.5}, {"provider": "fake_b",
                        "skipped": "not today"}]}' | tr -d '\n'
       echo ;;
  esac
done
)";
}
const std::string kInTwoSteps =
    R"(echo '{"compiled": 1}'; echo '{"compiled": 3}'; echo '{"ready": 2, "failed": 1}')";

class PeersAhead : public Peers {
 protected:
  std::string compile(Peer& peer, bool go_on = true) {
    const std::vector<Measurement> all{
        {case_workload(find_case("softmax"), {8, 16}, DType::f32), {}, 0.001},
        {case_workload(find_case("layernorm"), {4, 8}, DType::bf16), {}, 0.001},
    };
    return peer.compile_ahead(all, *device_, [&](std::size_t done) {
      heard_.push_back(done);
      return go_on;
    });
  }

  std::vector<std::size_t> heard_;
};

TEST_F(PeersAhead, SayHowFarTheyAre) {
  EXPECT_FALSE(Peer("torch", "cpu", shell(kHello + kAnswer)).compiles_ahead());
  Peer peer("torch", "cpu", shell(compiles(kInTwoSteps)));
  EXPECT_TRUE(peer.compiles_ahead());
  EXPECT_EQ(compile(peer), "");
  EXPECT_EQ(heard_, (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_EQ(ask(peer)[0].timing->median_us, 3.5);
}

TEST_F(PeersAhead, AreToldWhatToCompile) {
  Peer peer("torch", "cpu", shell(kHelloAhead + R"(read -r request
printf '%s\n' "$request" | sed "s/.*/{\"error\": \"$(printf %s "$request" | tr -d '"')\"}/"
read -r end
)"));
  const std::string error = compile(peer);
  EXPECT_TRUE(has(error, "{compile_ahead:[{case:softmax,shape:8x16,dtype:f32,inputs:[")) << error;
  EXPECT_TRUE(has(error,
                  "{case:layernorm,shape:4x8,dtype:bf16,"
                  "inputs:[{shape:[4,8],dtype:bf16,values:normal,row_axis:0},"
                  "{shape:[8],dtype:bf16,values:normal},{shape:[8],dtype:bf16,values:normal}],"
                  "outputs:[{shape:[4,8],dtype:bf16,row_axis:0}]}],workers:"))
      << error;
}

TEST_F(PeersAhead, MeasureEvenIfThatFails) {
  for (const char* failure : {"exit 7", "echo garbage", "echo '{\"compiled\": \"many\"}'",
                              "echo '{\"error\": \"no disk\"}'", "sleep 1000"}) {
    PeerOptions options = shell(compiles(failure));
    options.hello_limit = milliseconds(2000);
    options.answer_limit = milliseconds(200);
    Peer peer("torch", "cpu", options);
    EXPECT_NE(compile(peer), "") << failure;
    EXPECT_EQ(ask(peer)[0].timing->median_us, 3.5) << failure;
  }
}

TEST_F(PeersAhead, StopWhenToldTo) {
  Peer peer("torch", "cpu", shell(compiles("sleep 1000")));
  EXPECT_EQ(compile(peer, false), "");
  EXPECT_EQ(heard_, std::vector<std::size_t>{0});
}

class SuiteAhead : public PeersAhead {
 protected:
  SuiteAhead() {
    options_.cases = {"softmax", "h_red_pw", "layernorm"};
    options_.shapes = {{8, 16}, {4, 8}, {2, 4}};
    options_.providers = {"fused"};
    options_.seconds = 0.001;
    options_.peers = {"torch"};
  }
  Results run() {
    return run_suite(options_, [&](const Progress& at) {
      if (at.next != "compiling for torch") return true;
      EXPECT_EQ(at.total, 9u);
      heard_.push_back(at.done);
      return true;
    });
  }

  SuiteOptions options_;
};

TEST_F(SuiteAhead, ManyAreCompiledFirst) {
  options_.peer_options = shell(compiles(kInTwoSteps));
  Results results = run();
  EXPECT_EQ(heard_, (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_EQ(results.rows.size(), 27u);
  EXPECT_TRUE(results.notes.empty());
  heard_.clear();
  options_.only = {"softmax 8x16 f32"};
  EXPECT_EQ(run().rows.size(), 3u);
  EXPECT_TRUE(heard_.empty()) << "few are not worth it";
}

TEST_F(SuiteAhead, AFailureIsNoted) {
  options_.peer_options = shell(compiles("echo 'no room' >&2; exit 7"));
  const Results results = run();
  ASSERT_EQ(results.notes.size(), 1u);
  EXPECT_TRUE(
      has(results.notes[0], "compiling for torch ahead failed: it ended with exit status 7"))
      << results.notes[0];
  for (const ResultRow& row : results.rows) EXPECT_EQ(row.error, "") << row.title();
}

// Every field of a row is a number, or has a reason.
void expect_complete(const ResultRow& row) {
  const auto told = [&](const char* field, bool has_value) {
    EXPECT_NE(has_value, row.reasons.contains(field))
        << row.case_name << " " << row.provider << ": " << field;
  };
  told("call_us", row.call_us.has_value());
  told("bytes_planned", row.bytes_planned.has_value());
  told("bytes_measured", row.bytes_measured.has_value());
  told("buffer_bytes", row.buffer_bytes.has_value());
  told("compile_ms", row.compile_ms.has_value());
  told("kernels_from_disk", row.kernels_from_disk.has_value());
  told("kernels", row.kernels.has_value());
  told("max_rel_err", row.max_rel_err.has_value());
  told("tolerance", row.tolerance.has_value());
  told("instructions", row.instructions.has_value());
  told("peak_bytes", row.peak_bytes.has_value());
}

// The script reports the names of the files beside it as its versions.
TEST_F(Peers, AScriptOfOnesOwnIsAloneInItsFolder) {
  const Peer peer("torch", "cpu", shell(R"(cd "${0%/*}"; found=$(echo *)
echo '{"versions": {"found": "'$found'"}, "providers": []}'
read -r request
)"));
  EXPECT_EQ(peer.versions().at("found"), "peer.py");
}

TEST_F(Peers, EveryFileOfTorchIsEmbeddedAndNamed) {
  const char* source = std::getenv("SINTER_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "SINTER_SOURCE_DIR is not set";
  const fs::path root = fs::path(source) / "src/suite/peers";
  std::set<std::string> there;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".py") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    const std::string name = entry.path().lexically_relative(root).string();
    EXPECT_TRUE(peer_script(name) == text.str()) << name;
    there.insert(name);
  }
  const auto files = peer_files("torch");
  EXPECT_EQ(std::set<std::string>(files.begin(), files.end()), there);
  EXPECT_EQ(files.front(), "torch_peer.py") << "the one that is started";
  EXPECT_TRUE(peer_files("troch").empty());
}

// Null, with the reason, if there is no PyTorch.
std::unique_ptr<Peer> torch_on_cpu(std::string& why_not) {
  try {
    return std::make_unique<Peer>("torch", "cpu");
  } catch (const UserError& error) {
    if (!has(error.what(), "needs PyTorch")) throw;
    why_not = error.what();
    return nullptr;
  }
}

TEST_F(Peers, TorchRunsEveryCase) {
  std::string why_not;
  const std::unique_ptr<Peer> peer = torch_on_cpu(why_not);
  if (!peer) GTEST_SKIP() << why_not;
  for (const Case& each : all_cases()) {
    const std::vector<ResultRow> rows =
        peer->measure({case_workload(each, {33, 65}, DType::f32), {}, 0.001}, *device_);
    ASSERT_EQ(rows.size(), 2u) << each.name;
    EXPECT_EQ(rows[0].provider, "torch_eager");
    EXPECT_EQ(rows[1].provider, "torch_compile");
    EXPECT_EQ(rows[0].skipped, "") << each.name;
    for (const ResultRow& row : rows) {
      EXPECT_EQ(row.error, "") << each.name;
      if (!row.skipped.empty()) continue;
      ASSERT_TRUE(row.timing) << each.name;
      EXPECT_GE(row.timing->samples, 5);
      EXPECT_LE(row.timing->p20_us, row.timing->p80_us);
      EXPECT_LE(*row.max_rel_err, 1e-5) << each.name;
      EXPECT_GT(*row.checked_elements, 0);
      expect_complete(row);
    }
  }
}

TEST_F(PeersAhead, TorchFindsWhatItCompiled) {
  std::string why_not;
  const std::unique_ptr<Peer> peer = torch_on_cpu(why_not);
  if (!peer) GTEST_SKIP() << why_not;
  if (!peer->compiles_ahead()) GTEST_SKIP() << "TORCHINDUCTOR_CACHE_DIR is set";
  EXPECT_EQ(compile(*peer), "");
  EXPECT_EQ(heard_, (std::vector<std::size_t>{0, 1, 2}));
  const std::vector<ResultRow> rows = ask(*peer);
  EXPECT_EQ(rows.at(1).error, "");
  if (rows[1].skipped.empty()) {
    EXPECT_TRUE(has(rows[1].reasons.at("kernels_from_disk"), "compiled ahead"));
    EXPECT_GT(*rows[1].compile_ms, 0);
  }
}

TEST_F(Peers, TorchSkipsWhatDoesNotFit) {
  std::string why_not;
  const std::unique_ptr<Peer> peer = torch_on_cpu(why_not);
  if (!peer) GTEST_SKIP() << why_not;
  const Case& each = find_case("softmax");
  for (const ResultRow& row : peer->measure(
           {case_workload(each, {1LL << 24, 1LL << 24}, DType::f32), {}, 0.001}, *device_)) {
    EXPECT_TRUE(has(row.skipped, "does not fit")) << row.skipped << row.error;
    EXPECT_FALSE(row.failed());
  }
}

}  // namespace
}  // namespace sinter::suite
