// write_file_atomically: a reader sees the old text or the new one despite concurrent writers;
// nothing is left beside it.
#include "src/base/atomic_file.h"

#include <gtest/gtest.h>
#include <sinter/error.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace sinter {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("atomic-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    path_ = (folder_ / "file").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  long files() const { return std::distance(fs::directory_iterator(folder_), {}); }

  fs::path folder_;
  std::string path_;
};

TEST_F(AtomicFileTest, ThreadsMayWriteOneFileAtOnce) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      const std::string own(100'000, static_cast<char>('a' + i));
      for (int round = 0; round < 50; ++round) {
        try {
          write_file_atomically("test", path_, own);
        } catch (const Error&) {
          ++wrong;
        }
        const std::string now = text();
        wrong += now.size() != own.size() || now.find_first_not_of(now[0]) != std::string::npos;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, AFailureIsAUserErrorAndLeavesNothing) {
  fs::create_directories(path_ + "/below");
  EXPECT_THROW(write_file_atomically("test", path_, "text"), UserError);
  EXPECT_THROW(write_file_atomically("test", path_ + "/none/file", "text"), UserError);
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace sinter
