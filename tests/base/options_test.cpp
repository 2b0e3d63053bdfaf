// Options from a fake environment, and errors that name the variable.
#include "src/base/options.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <map>

namespace sinter {
namespace {

std::map<std::string, std::string> g_environment;

const char* get(const char* name) {
  const auto it = g_environment.find(name);
  return it == g_environment.end() ? nullptr : it->second.c_str();
}

Options read(std::map<std::string, std::string> environment) {
  g_environment = std::move(environment);
  return read_options(&get);
}

std::string error_of(std::map<std::string, std::string> environment) {
  try {
    read(std::move(environment));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, TheDevice) {
  EXPECT_EQ(read({}).device, "");
  EXPECT_EQ(read({{"SINTER_DEVICE", "cuda:1"}}).device, "cuda:1");
  EXPECT_EQ(read({{"SINTER_TUNING_FILE", "/a/b.json"}}).tuning_file, "/a/b.json");
}

TEST(OptionsTest, DefaultsWithoutAnyVariable) {
  const Options options = read({});
  EXPECT_EQ(options.cache_dir, "") << "no home, nothing is kept";
  EXPECT_EQ(options.num_threads, 0);
  EXPECT_EQ(options.cxx, "");
  EXPECT_EQ(options.python, "python3");
}

TEST(OptionsTest, PythonIsTakenAsItStands) {
  EXPECT_EQ(read({{"SINTER_PYTHON", "/opt/venv/bin/python"}}).python, "/opt/venv/bin/python");
  EXPECT_EQ(read({{"SINTER_PYTHON", ""}}).python, "python3");
}

TEST(OptionsTest, CacheDirectoryFollowsXdgThenHome) {
  EXPECT_EQ(read({{"HOME", "/home/a"}}).cache_dir, "/home/a/.cache/sinter");
  EXPECT_EQ(read({{"HOME", "/home/a"}, {"XDG_CACHE_HOME", "/fast"}}).cache_dir, "/fast/sinter");
  EXPECT_EQ(read({{"HOME", "/home/a"}, {"XDG_CACHE_HOME", "relative"}}).cache_dir,
            "/home/a/.cache/sinter");
  EXPECT_EQ(read({{"HOME", "/home/a"}, {"SINTER_CACHE_DIR", "/mine"}}).cache_dir, "/mine");
  EXPECT_EQ(read({{"HOME", "nowhere"}}).cache_dir, "");
}

TEST(OptionsTest, TheDirectoryForSimtSources) {
  EXPECT_EQ(read({}).simt_sources, "");
  EXPECT_EQ(read({{"SINTER_SIMT_SOURCES", "/mine"}}).simt_sources, "/mine");
  EXPECT_EQ(error_of({{"SINTER_SIMT_SOURCES", "mine"}}),
            "[SINTER_SIMT_SOURCES] expected an absolute path, got 'mine'");
}

TEST(OptionsTest, EmptyCountsAsNotSet) {
  const Options options = read({{"HOME", "/h"},
                                {"SINTER_CACHE_DIR", ""},
                                {"XDG_CACHE_HOME", ""},
                                {"SINTER_NUM_THREADS", ""},
                                {"SINTER_CXX", ""}});
  EXPECT_EQ(options.cache_dir, "/h/.cache/sinter");
  EXPECT_EQ(options.num_threads, 0);
  EXPECT_EQ(options.cxx, "");
}

TEST(OptionsTest, RelativeCacheDirectoryIsRefusedByName) {
  EXPECT_EQ(error_of({{"SINTER_TUNING_FILE", "tuning.json"}}),
            "[SINTER_TUNING_FILE] expected an absolute path, got 'tuning.json'");
  EXPECT_EQ(error_of({{"SINTER_CACHE_DIR", "cache"}}),
            "[SINTER_CACHE_DIR] expected an absolute path, got 'cache'");
}

TEST(OptionsTest, ThreadsAreAWholeNumberInRange) {
  EXPECT_EQ(read({{"SINTER_NUM_THREADS", "7"}}).num_threads, 7);
  EXPECT_EQ(read({{"SINTER_NUM_THREADS", "1024"}}).num_threads, kMaxThreads);
  for (const char* bad : {"0", "-1", "1025", "4x", " 4", "4.0", "many", "99999999999999999999"})
    EXPECT_EQ(error_of({{"SINTER_NUM_THREADS", bad}}),
              "[SINTER_NUM_THREADS] expected a whole number from 1 to 1024, got '" +
                  std::string(bad) + "'");
}

TEST(OptionsTest, TheLimitOfTheCacheIsInMib) {
  EXPECT_EQ(read({}).cache_limit_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(read({{"SINTER_CACHE_LIMIT_MIB", "3"}}).cache_limit_bytes, std::uint64_t{3} << 20);
  EXPECT_EQ(read({{"SINTER_CACHE_LIMIT_MIB", "0"}}).cache_limit_bytes, 0u);
  for (const char* bad : {"-1", "1G", "1.5", "1099511627777", "99999999999999999999"})
    EXPECT_EQ(error_of({{"SINTER_CACHE_LIMIT_MIB", bad}}),
              "[SINTER_CACHE_LIMIT_MIB] expected a whole number from 0 to 1099511627776, got '" +
                  std::string(bad) + "'");
}

TEST(OptionsTest, VectorsHaveThreeWidths) {
  EXPECT_EQ(read({}).vector_bytes, 0);
  EXPECT_EQ(read({{"SINTER_VECTOR_BYTES", ""}}).vector_bytes, 0);
  for (const int bytes : {16, 32, 64})
    EXPECT_EQ(read({{"SINTER_VECTOR_BYTES", std::to_string(bytes).c_str()}}).vector_bytes, bytes);
  for (const char* bad : {"0", "8", "032", "32 ", "avx2"})
    EXPECT_EQ(error_of({{"SINTER_VECTOR_BYTES", bad}}),
              "[SINTER_VECTOR_BYTES] expected 16, 32 or 64, got '" + std::string(bad) + "'");
}

TEST(OptionsTest, CompilerIsTakenAsGiven) {
  EXPECT_EQ(read({{"SINTER_CXX", "clang++"}}).cxx, "clang++");
  EXPECT_EQ(read({{"SINTER_CXX", "none"}}).cxx, kNoCompiler);
}

}  // namespace
}  // namespace sinter
