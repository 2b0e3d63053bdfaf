// The host compiler: good source gives a library, bad source an error with log and path; compilers
// that are missing, hang, crash or write nothing are distinguished.
#include "src/cpu/host_compiler.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sinter/error.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "src/runtime/temporary_directory.h"

namespace sinter {
namespace {

class HostCompilerTest : public testing::Test {
 protected:
  std::string write_script(const std::string& body) {
    const std::string path = directory_.path() + "/compiler.sh";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    chmod(path.c_str(), 0700);
    return path;
  }
  std::unique_ptr<HostCompiler> compiler(const std::string& cxx, int limit_ms = 60'000) {
    return HostCompiler::find({cxx, directory_.path(), std::chrono::milliseconds(limit_ms)});
  }
  // The error of compiling `source`; fails the test if there is none.
  CompileError error_of(const HostCompiler& cxx, const std::string& source) {
    try {
      cxx.compile(source, "test");
    } catch (const CompileError& error) {
      return error;
    }
    ADD_FAILURE() << "it compiled";
    return {"", "", ""};
  }

  TemporaryDirectory directory_;
};

TEST_F(HostCompilerTest, LibraryCanBeLoaded) {
  const auto cxx = compiler("");
  if (!cxx) GTEST_SKIP() << "no compiler on this machine";
  const std::string bytes = cxx->compile(
      "extern \"C\" double f(double x) { return __builtin_tanh(x) + __builtin_sqrt(x); }", "f");
  const std::string path = directory_.path() + "/f.so";
  std::ofstream(path, std::ios::binary) << bytes << "bytes behind do not matter";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  const auto f = reinterpret_cast<double (*)(double)>(dlsym(library, "f"));
  ASSERT_TRUE(f);
  EXPECT_DOUBLE_EQ(f(0), 0);
  dlclose(library);
}

TEST_F(HostCompilerTest, BrokenSourceGivesLogAndPath) {
  const auto cxx = compiler("");
  if (!cxx) GTEST_SKIP() << "no compiler on this machine";
  const std::string source = "int f() { return undeclared_thing; }\n";
  const CompileError error = error_of(*cxx, source);
  EXPECT_NE(error.log().find("undeclared_thing"), std::string::npos) << error.log();
  EXPECT_EQ(error.source_path().find(directory_.path()), 0u);
  std::ifstream saved(error.source_path());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(saved), {}), source);
  EXPECT_NE(std::string(error.what()).find(error.source_path()), std::string::npos);
}

TEST_F(HostCompilerTest, SourceIsSavedElsewhereIfTheCacheCannotBeWritten) {
  const auto cxx = HostCompiler::find({"", directory_.path() + "/missing"});
  if (!cxx) GTEST_SKIP() << "no compiler on this machine";
  const CompileError error = error_of(*cxx, "broken");
  EXPECT_TRUE(std::filesystem::exists(error.source_path())) << error.source_path();
  std::filesystem::remove(error.source_path());
}

TEST_F(HostCompilerTest, MissingCompilerIsTheUsersMistake) {
  for (const std::string name : {"/no/such/compiler", "no-such-compiler", "/etc/passwd", "/tmp"}) {
    try {
      compiler(name);
      FAIL() << name;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("SINTER_CXX"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos);
    }
  }
}

TEST_F(HostCompilerTest, HangingCompilerIsKilledWithItsChildren) {
  const auto cxx = compiler(write_script("echo started; sleep 1000 & wait"), 300);
  const auto start = std::chrono::steady_clock::now();
  const CompileError error = error_of(*cxx, "int x;");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_NE(std::string(error.what()).find("killed"), std::string::npos) << error.what();
  EXPECT_EQ(error.log(), "started\n");
}

// Its temporary files are removed with the temporary directory, even if it is killed.
TEST_F(HostCompilerTest, AKilledCompilerLeavesNoTemporaryFiles) {
  const auto cxx = compiler(
      write_script("echo $TMPDIR; touch $TMPDIR/cc1234.o; echo x > $TMPDIR/kernel.so; kill -9 $$"));
  const CompileError error = error_of(*cxx, "int x;");
  ASSERT_FALSE(error.log().empty());
  const std::string directory = error.log().substr(0, error.log().find('\n'));
  EXPECT_NE(directory, temporary_root());
  EXPECT_FALSE(std::filesystem::exists(directory)) << directory;
}

TEST_F(HostCompilerTest, FailuresAreToldApart) {
  EXPECT_NE(std::string(error_of(*compiler(write_script("exit 3")), "").what()).find("status 3"),
            std::string::npos);
  EXPECT_NE(std::string(error_of(*compiler(write_script("kill -9 $$")), "").what())
                .find("killed by signal 9"),
            std::string::npos);
  EXPECT_NE(
      std::string(error_of(*compiler(write_script("exit 0")), "").what()).find("wrote no library"),
      std::string::npos);
}

// It never reads its input: the source is larger than any pipe, and SIGPIPE would kill us.
TEST_F(HostCompilerTest, CompilerThatIgnoresItsInput) {
  const auto cxx = compiler(write_script("exit 1"));
  error_of(*cxx, std::string(1 << 20, ' '));
}

TEST_F(HostCompilerTest, ProgramThatIgnoresItsChildren) {
  const auto cxx = compiler("");
  if (!cxx) GTEST_SKIP() << "no compiler on this machine";
  signal(SIGCHLD, SIG_IGN);  // exit statuses are lost now
  EXPECT_FALSE(cxx->compile("int x;", "x").empty());
  const CompileError error = error_of(*cxx, "broken");
  signal(SIGCHLD, SIG_DFL);
  EXPECT_FALSE(error.log().empty());
}

TEST_F(HostCompilerTest, IdentityChangesWithTheCompiler) {
  const std::string first = compiler(write_script("exit 1"))->identity();
  EXPECT_EQ(compiler(directory_.path() + "/compiler.sh")->identity(), first);
  EXPECT_NE(compiler(write_script("exit 22"))->identity(), first);
}

TEST_F(HostCompilerTest, ManyThreadsCompile) {
  const auto cxx = compiler("");
  if (!cxx) GTEST_SKIP() << "no compiler on this machine";
  std::atomic<int> compiled{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(
        [&, i] { compiled += !cxx->compile("int x" + std::to_string(i) + ";", "x").empty(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiled, 4);
}

}  // namespace
}  // namespace sinter
