// Temporary directories: removed with their owner, at process exit or on a signal, or by the next
// process.
#include "src/runtime/temporary_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "src/runtime/interruption.h"

namespace sinter {
namespace {

namespace fs = std::filesystem;

// In separate processes with their own TMPDIR.
class TemporaryDirectoryTest : public testing::Test {
 protected:
  std::string root() const { return root_.path(); }
  std::size_t left() const {
    const fs::directory_iterator files(root());
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }
  // The exit status of a child that runs `work`.
  int in_child(const std::function<void()>& work) const {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      setenv("TMPDIR", root().c_str(), 1);
      work();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  // A directory with leftover files.
  static void leak() {
    static const TemporaryDirectory* directory = nullptr;
    directory = new TemporaryDirectory;
    fs::create_directories(directory->path() + "/below/deeper");
    std::ofstream(directory->path() + "/below/deeper/file") << "x";
    std::ofstream(directory->path() + "/kernel.so") << "x";
  }

  TemporaryDirectory root_;
};

TEST_F(TemporaryDirectoryTest, NothingIsLeftWhenTheLastOwnerIsGone) {
  EXPECT_EQ(in_child([&] {
              {
                const TemporaryDirectory first;
                const TemporaryDirectory second;
                std::ofstream(first.path() + "/file") << "x";
                struct stat info {};
                if (stat(first.path().c_str(), &info) != 0 || (info.st_mode & 0777) != 0700)
                  _exit(1);
                if (left() != 1 || first.path() == second.path()) _exit(2);
              }
              if (left() != 0) _exit(3);
              const TemporaryDirectory again;
              if (left() != 1) _exit(4);
            }),
            0);
}

TEST_F(TemporaryDirectoryTest, NothingIsLeftAtExit) {
  EXPECT_EQ(in_child([] {
              leak();
              std::exit(0);
            }),
            0);
  EXPECT_EQ(left(), 0u);
}

TEST_F(TemporaryDirectoryTest, NothingIsLeftAfterASignal) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = in_child([&] {
      clean_up_on_signals();
      leak();
      raise(signal);
    });
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(left(), 0u);
  }
}

TEST_F(TemporaryDirectoryTest, ASignalEndsTheProcessesThatWriteThere) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  in_child([&] {
    clean_up_on_signals();
    const pid_t compiler = fork();
    if (compiler == 0) {
      setpgid(0, 0);
      sleep(30);
      _exit(write(pipe_ends[1], "x", 1) == 1 ? 0 : 1);
    }
    setpgid(compiler, compiler);
    const NotedChild noted(compiler);
    raise(SIGTERM);
  });
  ::close(pipe_ends[1]);
  char nothing = 0;
  EXPECT_EQ(::read(pipe_ends[0], &nothing, 1), 0);  // its last writer is gone
  ::close(pipe_ends[0]);
}

TEST_F(TemporaryDirectoryTest, HandledAndIgnoredSignalsStaySo) {
  EXPECT_EQ(in_child([] {
              signal(SIGINT, SIG_IGN);
              clean_up_on_signals();
              raise(SIGINT);
            }),
            0);
}

TEST_F(TemporaryDirectoryTest, LeftoversOfAKilledProcessAreRemovedByTheNext) {
  EXPECT_TRUE(WIFSIGNALED(in_child([] {
    leak();
    raise(SIGKILL);
  })));
  EXPECT_EQ(left(), 1u);
  EXPECT_EQ(in_child([&] {
              const TemporaryDirectory own;
              if (left() != 1) _exit(1);
            }),
            0);
  EXPECT_EQ(left(), 0u);
}

TEST_F(TemporaryDirectoryTest, FoldersThatAreNotStaleAreKept) {
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  waitpid(dead, nullptr, 0);
  const auto folder = [&](const std::string& name) {
    fs::create_directory(root() + "/" + name);
    return root() + "/" + name;
  };
  const std::string of_dead = "sinter-" + std::to_string(dead);
  const std::string alive = folder("sinter-" + std::to_string(getpid()) + "-abcdef");
  const std::string unknown = folder("sinter-abcdef");
  const std::string longer = folder(of_dead + "-abcdefgh");
  const std::string locked = folder(of_dead + "-locked");
  const std::string stale = folder(of_dead + "-sstale");
  const std::string foreign = folder(of_dead + "-others");
  const bool can_give_away = chown(foreign.c_str(), 12345, 12345) == 0;
  fs::create_symlink(alive, root() + "/" + of_dead + "-linked");
  const int fd = open(locked.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(fd, LOCK_SH), 0);
  EXPECT_EQ(in_child([] { const TemporaryDirectory own; }), 0);
  ::close(fd);
  for (const std::string& kept : {alive, unknown, longer, locked})
    EXPECT_TRUE(fs::exists(kept)) << kept;
  EXPECT_TRUE(fs::is_symlink(root() + "/" + of_dead + "-linked"));
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_EQ(fs::exists(foreign), can_give_away);
}

TEST_F(TemporaryDirectoryTest, AForkedChildLeavesItsParentsAlone) {
  EXPECT_EQ(in_child([&] {
              const TemporaryDirectory parents;
              const pid_t child = fork();
              if (child == 0) {
                {
                  const TemporaryDirectory own;
                  if (left() != 2) _exit(1);
                }
                std::exit(left() == 1 ? 0 : 2);  // runs the exit handlers
              }
              int status = 0;
              waitpid(child, &status, 0);
              if (status != 0 || !fs::exists(parents.path())) _exit(1);
            }),
            0);
}

}  // namespace
}  // namespace sinter
