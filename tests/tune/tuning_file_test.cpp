// The tuning file: written entries are read again, untrusted ones are not used, and concurrent
// writers lose nothing.
#include "src/tune/tuning_file.h"

#include <gtest/gtest.h>
#include <sinter/error.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace sinter {
namespace {

std::vector<std::string> g_warnings;  // NOLINT: a handler is a plain function

TunedEntry entry(int threads = 128) {
  TunedEntry it;
  it.choice = {"column", {threads, 64, 4, 2, 2, 8, 4, 1, 1, 1}};
  it.us = 31.25;
  it.heuristic_us = 35.5;
  it.config = "row (2, 4096)";
  it.heuristic = "row (1, 4096)";
  it.date = "2026-11-15";
  it.version = "0.1.0";
  return it;
}

const TuningKey kKey{"NVIDIA H200 sm_90", "2^12 2^12r f32: max #0123", false};
const TuningKey kOther{"NVIDIA A100 sm_80", "2^24 f16: exp #4567", true};

class TuningFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("tuning-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    path_ = (folder_ / "tuning.json").string();
    g_warnings.clear();
    before_ = set_warning_handler([](const std::string& text) { g_warnings.push_back(text); });
  }
  void TearDown() override {
    set_warning_handler(before_);
    std::filesystem::remove_all(folder_);
  }

  // Warnings appear once per process: each test has its own path.
  void use_path(const std::string& name) { path_ = (folder_ / name).string(); }
  void write(const std::string& text) const {
    std::filesystem::create_directories(folder_);
    std::ofstream(path_, std::ios::binary) << text;
  }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  }

  std::filesystem::path folder_;
  std::string path_;
  WarningHandler before_ = nullptr;
};

TEST_F(TuningFileTest, StoredEntriesAreFoundByTheNextProcess) {
  TuningStore(path_).put({{kKey, entry()}, {kOther, entry(256)}});
  const TuningStore store(path_);
  EXPECT_EQ(store.find(kKey), entry());
  EXPECT_EQ(store.find(kOther), entry(256));
  EXPECT_EQ(store.size(), 2u);
  EXPECT_TRUE(store.has_model("NVIDIA H200 sm_90"));
  EXPECT_FALSE(store.has_model("NVIDIA H200 sm_9"));
  EXPECT_FALSE(store.find({kKey.model, kKey.signature, true})) << "made without that promise";
  EXPECT_NE(text().find("\"threads_per_row\": 64"), std::string::npos) << text();
  EXPECT_TRUE(g_warnings.empty());
}

TEST_F(TuningFileTest, TheStoreThatWroteSeesItToo) {
  TuningStore store(path_);
  EXPECT_FALSE(store.find(kKey));
  store.put({{kKey, entry()}});
  EXPECT_EQ(store.find(kKey), entry());
  store.put({{kKey, std::nullopt}});
  EXPECT_FALSE(store.find(kKey));
  EXPECT_EQ(TuningStore(path_).size(), 0u);
}

TEST_F(TuningFileTest, NoFileIsNoTuningAndNoWarning) {
  EXPECT_EQ(TuningStore(path_).size(), 0u);
  EXPECT_EQ(TuningStore("").size(), 0u);
  EXPECT_TRUE(g_warnings.empty());
  EXPECT_THROW(TuningStore("").check_writable(), UserError);
}

TEST_F(TuningFileTest, DamageIsWarnedOfOnceAndKeptAside) {
  TuningStore(path_).put({{kKey, entry()}});
  const std::string whole = text();
  write(whole.substr(0, whole.size() / 2));
  TuningStore store(path_);
  EXPECT_FALSE(store.find(kKey));
  EXPECT_FALSE(store.find(kKey));
  ASSERT_EQ(g_warnings.size(), 1u);
  EXPECT_NE(g_warnings[0].find(path_), std::string::npos) << g_warnings[0];
  store.put({{kOther, entry()}});
  EXPECT_EQ(TuningStore(path_).find(kOther), entry());
  EXPECT_TRUE(std::filesystem::exists(path_ + ".damaged"));
}

TEST_F(TuningFileTest, OtherDamage) {
  const char* texts[] = {"",
                         "null",
                         "[]",
                         "{}",
                         "\xff\xfe",
                         "{\"sinter_tuning\": \"1\"}",
                         "{\"sinter_tuning\": 1}",
                         "{\"sinter_tuning\": 1, \"devices\": []}"};
  for (const char* each : texts) {
    EXPECT_NE(parse_tuning(each).refusal, "") << each;
    EXPECT_TRUE(parse_tuning(each).table.empty());
  }
  EXPECT_EQ(parse_tuning("{\"sinter_tuning\" 1}").refusal,
            "line 1, column 18: expected ':', found '1}'");
  const std::string deep(100'000, '[');
  EXPECT_NE(parse_tuning(deep).refusal, "");
}

TEST_F(TuningFileTest, AnotherVersionIsNeitherUsedNorOverwritten) {
  use_path("newer.json");
  TuningStore(path_).put({{kKey, entry()}});
  write(replaced(text(), "\"sinter_tuning\": 1", "\"sinter_tuning\": 2"));
  TuningStore store(path_);
  EXPECT_FALSE(store.find(kKey));
  EXPECT_EQ(g_warnings.size(), 1u);
  EXPECT_THROW(store.check_writable(), UserError);
  EXPECT_THROW(store.put({{kOther, entry()}}), UserError);
  EXPECT_NE(text().find("\"sinter_tuning\": 2"), std::string::npos);
}

TEST_F(TuningFileTest, HostileEntriesAreRefusedAndOthersUsed) {
  use_path("hostile.json");
  const std::pair<const char*, const char*> changes[] = {
      {"\"threads\": 128", "\"threads\": 1048576"},
      {"\"threads\": 128", "\"threads\": -128"},
      {"\"threads\": 128", "\"threads\": 18446744073709551615"},
      {"\"threads\": 128", "\"threads\": 1e300"},
      {"\"threads\": 128", "\"threads\": 127"},
      {"\"threads\": 128", "\"threads\": \"128\""},
      {"\"threads\": 128", "\"threads\": null"},
      {"\"threads\": 128", "\"threads\": 4294967424"},  // 128 in 32 bits
      {"\"threads\": 128,", ""},
      {"\"cluster\": 2", "\"cluster\": 16"},
      {"\"vector\": 4", "\"vector\": 3"},
      {"\"tile_rows\": 2", "\"tile_rows\": 0"},
      {"\"vectors\": 8", "\"vectors\": 100000"},
      {"\"blocks_at_once\": 4", "\"blocks_at_once\": 1000"},
      {"\"blocks_at_once\": 4", "\"blocks_at_once\": -1"},
      {"\"prefetch\": 1", "\"prefetch\": 99"},
      {"\"prefetch\": 1,", ""},
      {"\"form\": \"column\"", "\"form\": \"diagonal\""},
      {"\"form\": \"column\"", "\"form\": 7"},
      {"\"caching\": \"results\",", ""},
      {"\"caching\": \"results\"", "\"caching\": 1"},
      {"\"caching\": \"results\"", "\"caching\": \"nothing\""},
      {"\"online\": true", "\"online\": 0"}};
  TuningStore(path_).put({{kKey, entry()}, {kOther, entry(256)}});
  const std::string good = text();
  for (const auto& [from, to] : changes) {
    const ParsedTuning parsed = parse_tuning(replaced(good, from, to));
    EXPECT_EQ(parsed.refusal, "") << to;
    EXPECT_EQ(parsed.refused, 1) << to;
    EXPECT_NE(parsed.first_refused, "");
    EXPECT_EQ(parsed.table.size(), 1u) << to;
  }
  const std::string old = parse_tuning(replaced(good, "\"prefetch\"", "\"ahead\"")).first_refused;
  EXPECT_NE(old.find("prefetch is missing"), std::string::npos) << "its former name: " << old;
  write(replaced(good, "\"threads\": 128", "\"threads\": 127"));
  const TuningStore store(path_);
  EXPECT_FALSE(store.find(kKey));
  EXPECT_TRUE(store.find(kOther));
  ASSERT_EQ(g_warnings.size(), 1u);
  EXPECT_NE(g_warnings[0].find("threads is 127"), std::string::npos) << g_warnings[0];
}

TEST_F(TuningFileTest, FieldsThatAreNotKnownStay) {
  TuningStore(path_).put({{kKey, entry()}});
  write(replaced(replaced(text(), "\"threads\": 128", "\"mood\": \"good\", \"threads\": 128"),
                 "\"devices\"", "\"author\": \"me\", \"devices\""));
  TuningStore store(path_);
  EXPECT_EQ(store.find(kKey), entry());
  store.put({{kOther, entry()}});
  EXPECT_NE(text().find("\"mood\": \"good\""), std::string::npos) << text();
  EXPECT_NE(text().find("\"author\": \"me\""), std::string::npos);
  EXPECT_EQ(TuningStore(path_).find(kKey), entry());
}

TEST_F(TuningFileTest, ManyWritersLoseNothing) {
  constexpr int kWriters = 4;
  constexpr int kEach = 8;
  const auto key = [](int writer, int i) {
    return TuningKey{"GPU", "w" + std::to_string(writer) + " " + std::to_string(i), false};
  };
  const auto write_all = [&](int writer) {
    TuningStore store(path_);
    for (int i = 0; i < kEach; ++i) store.put({{key(writer, i), entry()}});
  };
  const pid_t child = fork();
  if (child == 0) {
    write_all(0);
    _exit(0);
  }
  {
    std::vector<std::jthread> threads;
    for (int writer = 1; writer < kWriters; ++writer)
      threads.emplace_back([&, writer] { write_all(writer); });
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const TuningStore store(path_);
  EXPECT_EQ(store.size(), std::size_t{kWriters * kEach});
  for (int writer = 0; writer < kWriters; ++writer)
    for (int i = 0; i < kEach; ++i) EXPECT_TRUE(store.find(key(writer, i))) << writer << " " << i;
}

TEST_F(TuningFileTest, OpeningAFifoDoesNotBlock) {
  use_path("pipe.json");
  std::filesystem::create_directories(folder_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(TuningStore(path_).size(), 0u);
  EXPECT_EQ(g_warnings.size(), 1u);
}

// A file that could not be read may be intact.
TEST_F(TuningFileTest, UnreadableFilesAreNeitherMovedNorOverwritten) {
  use_path("folder.json");
  std::filesystem::create_directories(path_);
  TuningStore store(path_);
  EXPECT_FALSE(store.find(kKey));
  EXPECT_EQ(g_warnings.size(), 1u);
  EXPECT_THROW(store.check_writable(), UserError);
  EXPECT_THROW(store.put({{kKey, entry()}}), UserError);
  EXPECT_TRUE(std::filesystem::is_directory(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".damaged"));
  if (geteuid() == 0) return;  // may read everything
  use_path("forbidden.json");
  TuningStore(path_).put({{kKey, entry()}});
  chmod(path_.c_str(), 0);
  EXPECT_THROW(TuningStore(path_).put({{kOther, entry()}}), UserError);
  chmod(path_.c_str(), 0600);
  EXPECT_EQ(TuningStore(path_).find(kKey), entry());
}

TEST_F(TuningFileTest, AFileOfManyMegabytesIsReadToItsEnd) {
  TuningStore(path_).put({{kKey, entry()}});
  write(replaced(text(), "\"devices\"",
                 "\"notes\": \"" + std::string(std::size_t{5} << 20, 'n') + "\", \"devices\""));
  EXPECT_EQ(TuningStore(path_).find(kKey), entry());
}

TEST_F(TuningFileTest, AnEmptyFileIsDamaged) {
  use_path("empty.json");
  write("");
  TuningStore store(path_);
  EXPECT_EQ(store.size(), 0u);
  EXPECT_EQ(g_warnings.size(), 1u);
  store.put({{kKey, entry()}});
  EXPECT_EQ(TuningStore(path_).find(kKey), entry());
}

TEST_F(TuningFileTest, AFolderThatCannotBeWrittenIsSaidBefore) {
  if (geteuid() == 0) {
    write("");
    EXPECT_THROW(TuningStore(path_ + "/below/tuning.json").check_writable(), UserError);
    return;
  }
  std::filesystem::create_directories(folder_);
  chmod(folder_.c_str(), 0500);
  EXPECT_THROW(TuningStore(path_).check_writable(), UserError);
  chmod(folder_.c_str(), 0700);
}

// Printing such a value would need a stack frame per level.
TEST_F(TuningFileTest, DeepNestingIsDamageWhereverItStands) {
  use_path("deep.json");
  TuningStore(path_).put({{kKey, entry()}});
  const std::string levels = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  write(replaced(text(), "\"devices\"", "\"notes\": " + levels + ", \"devices\""));
  TuningStore store(path_);
  EXPECT_FALSE(store.find(kKey));
  ASSERT_EQ(g_warnings.size(), 1u);
  EXPECT_NE(g_warnings[0].find("nested more than 64 levels"), std::string::npos) << g_warnings[0];
  store.put({{kOther, entry()}});
  EXPECT_EQ(TuningStore(path_).find(kOther), entry());
  // Brackets in a string are not levels.
  TuningStore(path_).put({{{"model", std::string(1000, '['), false}, entry()}});
  EXPECT_EQ(TuningStore(path_).size(), 2u);
}

TEST_F(TuningFileTest, WarningsAreHarmlessToATerminal) {
  use_path("escape.json");
  write("{\"sinter_tuning\": 1, \"devices\": {\"\\u001b[2J\": {\"\\u001b[31m\\n\u00e9\": 3}}}");
  EXPECT_EQ(TuningStore(path_).size(), 0u);
  write("{\"sinter_tuning\": 1, \"devices\": {\"\\u001b[2J\": 3}}");
  EXPECT_EQ(TuningStore(path_).size(), 0u);
  ASSERT_EQ(g_warnings.size(), 2u);
  for (const std::string& warning : g_warnings)
    for (const char c : warning) EXPECT_TRUE(c >= ' ' && c <= '~') << warning;
}

TEST_F(TuningFileTest, OfAKeyThatStandsTwiceTheLastCounts) {
  TuningStore(path_).put({{kKey, entry(256)}});
  const std::string last = text();
  TuningStore(path_).put({{kKey, entry(128)}});
  const auto inside = [](const std::string& file) {
    const std::size_t from = file.find('{', file.find(kKey.model)) + 1;
    return file.substr(from, file.find('}', from) + 1 - from);
  };
  write(replaced(text(), inside(text()), inside(text()) + "," + inside(last)));
  EXPECT_EQ(TuningStore(path_).size(), 1u);
  EXPECT_EQ(TuningStore(path_).find(kKey), entry(256));
}

}  // namespace
}  // namespace sinter
