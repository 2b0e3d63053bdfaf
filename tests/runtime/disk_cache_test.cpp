// The disk cache: entries survive; damaged or untrusted ones are refused and rebuilt; partial
// entries are never seen; an unusable directory is a reason, not an error.
#include "src/runtime/disk_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sinter/error.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

namespace sinter {
namespace {

namespace fs = std::filesystem;

constexpr Hash128 kKey{0x0123456789abcdef, 42};

class DiskCacheTest : public testing::Test {
 protected:
  std::string file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t files_in(const std::string& directory) {
    const fs::directory_iterator files(directory);
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }
  std::string put(std::string_view payload) {
    const PutResult result = cache_->put(kKey, payload);
    EXPECT_TRUE(result) << result.refusal;
    return result.path;
  }
  // An untrusted entry: not returned, deleted, and can be stored again.
  void expect_refused_and_rebuilt(const std::string& path) {
    EXPECT_FALSE(cache_->get(kKey));
    struct stat info {};
    EXPECT_NE(lstat(path.c_str(), &info), 0) << "not deleted";
    put("rebuilt");
    EXPECT_TRUE(cache_->get(kKey));
  }

  TemporaryDirectory scratch_;
  std::string directory_ = scratch_.path() + "/a/cache";
  std::unique_ptr<DiskCache> cache_ = DiskCache::open(directory_);
};

TEST_F(DiskCacheTest, DirectoryIsOwnerOnly) {
  struct stat info {};
  ASSERT_EQ(stat(directory_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(DiskCacheTest, StoredEntriesAreFound) {
  EXPECT_FALSE(cache_->get(kKey));
  const std::string payload(100'000, 'k');
  const std::string path = put(payload);
  ASSERT_EQ(cache_->get(kKey), path);
  EXPECT_TRUE(file_text(path).starts_with(payload));
  EXPECT_EQ(DiskCache::open(directory_)->get(kKey), path);
  EXPECT_FALSE(cache_->get({1, 1}));
}

TEST_F(DiskCacheTest, EmptyPayload) {
  put("");
  EXPECT_TRUE(cache_->get(kKey));
}

TEST_F(DiskCacheTest, ListStatsClear) {
  put("kernel");
  cache_->put({7, 7}, "another");
  std::ofstream(directory_ + "/notes.txt") << "someone's";
  std::ofstream(directory_ + "/.tmp-left") << "of a killed process";
  EXPECT_EQ(cache_->list().size(), 2u);
  EXPECT_EQ(cache_->stats().entries, 2u);
  EXPECT_GT(cache_->stats().bytes, 13u);
  cache_->clear();
  EXPECT_EQ(cache_->stats().entries, 0u);
  EXPECT_EQ(files_in(directory_), 1u);  // the notes
}

TEST_F(DiskCacheTest, TruncatedEntryIsRefused) {
  const std::string path = put("some payload");
  for (const off_t bytes : {0, 1, 12, 20, 43}) {
    ASSERT_EQ(truncate(path.c_str(), bytes), 0);
    expect_refused_and_rebuilt(path);
    put("some payload");
  }
}

TEST_F(DiskCacheTest, FlippedBitAnywhereIsRefused) {
  const std::string path = put("payload!");
  const std::string good = file_text(path);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    std::ofstream(path, std::ios::binary) << bad;
    EXPECT_FALSE(cache_->get(kKey)) << "byte " << at;
    put("payload!");
  }
}

TEST_F(DiskCacheTest, EntryUnderAnotherKeysNameIsRefused) {
  const std::string path = put("payload");
  const std::string other = cache_->put({9, 9}, "other payload").path;
  fs::copy_file(other, path, fs::copy_options::overwrite_existing);
  expect_refused_and_rebuilt(path);
}

TEST_F(DiskCacheTest, WritableByOthersIsRefused) {
  const std::string path = put("payload");
  chmod(path.c_str(), 0602);
  expect_refused_and_rebuilt(path);
  chmod(path.c_str(), 0620);
  expect_refused_and_rebuilt(path);
}

TEST_F(DiskCacheTest, ForeignOwnedEntryIsRefused) {
  const std::string path = put("payload");
  if (chown(path.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "cannot give files away";
  expect_refused_and_rebuilt(path);
}

TEST_F(DiskCacheTest, SymbolicLinkIsRefused) {
  const std::string path = put("payload");
  const std::string elsewhere = scratch_.path() + "/elsewhere";
  fs::rename(path, elsewhere);
  fs::create_symlink(elsewhere, path);
  expect_refused_and_rebuilt(path);
  EXPECT_TRUE(fs::exists(elsewhere));
}

TEST_F(DiskCacheTest, FifoDoesNotHang) {
  const std::string path = put("payload");
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_refused_and_rebuilt(path);
}

TEST_F(DiskCacheTest, UntrustedDirectoriesAreRefusedWithAReason) {
  const std::string open_to_all = scratch_.path() + "/open";
  ASSERT_EQ(mkdir(open_to_all.c_str(), 0700), 0);
  chmod(open_to_all.c_str(), 0777);
  EXPECT_NE(DiskCache::refuse_directory(open_to_all).find("other users"), std::string::npos);

  const std::string file = scratch_.path() + "/file";
  std::ofstream(file) << "x";
  EXPECT_NE(DiskCache::refuse_directory(file).find("not a directory"), std::string::npos);
  EXPECT_NE(DiskCache::refuse_directory(file + "/below"), "");
  EXPECT_NE(DiskCache::refuse_directory(""), "");

  const std::string own_link = scratch_.path() + "/link";
  fs::create_symlink(directory_, own_link);
  EXPECT_EQ(DiskCache::refuse_directory(own_link), "");

  const std::string foreign = scratch_.path() + "/foreign";
  ASSERT_EQ(mkdir(foreign.c_str(), 0700), 0);
  if (chown(foreign.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "cannot give files away";
  EXPECT_NE(DiskCache::refuse_directory(foreign).find("another user"), std::string::npos);
  ASSERT_EQ(lchown(own_link.c_str(), 12345, 12345), 0);
  EXPECT_NE(DiskCache::refuse_directory(own_link).find("symbolic link"), std::string::npos);
}

std::string g_warning;

TEST_F(DiskCacheTest, UnusableDirectoryWarnsAndGoesOnPrivately) {
  const std::string file = scratch_.path() + "/in_the_way";
  std::ofstream(file) << "x";
  std::string private_directory;
  const WarningHandler before =
      set_warning_handler([](const std::string& message) { g_warning = message; });
  {
    const auto cache = DiskCache::open(file);
    EXPECT_TRUE(cache->is_private());
    EXPECT_TRUE(cache->put(kKey, "payload"));
    EXPECT_TRUE(cache->get(kKey));
    private_directory = cache->directory();
  }
  set_warning_handler(before);
  EXPECT_NE(g_warning.find(file), std::string::npos) << g_warning;
  EXPECT_FALSE(fs::exists(private_directory));
}

TEST_F(DiskCacheTest, DirectoryThatVanishedIsAReason) {
  fs::remove_all(directory_);
  const PutResult result = cache_->put(kKey, "payload");
  EXPECT_FALSE(result);
  EXPECT_NE(result.refusal.find(directory_), std::string::npos) << result.refusal;
  EXPECT_FALSE(cache_->get(kKey));
  EXPECT_EQ(cache_->stats().entries, 0u);
  cache_->clear();
}

// In a child, which can drop its privileges.
TEST_F(DiskCacheTest, ReadOnlyDirectoryGivesEntriesAndRefusesNewOnes) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(12345) != 0) _exit(2);
    bool good = false;
    {
      const TemporaryDirectory own;
      const auto cache = DiskCache::open(own.path());
      good = bool(cache->put(kKey, "payload"));
      chmod(own.path().c_str(), 0500);
      good = good && !cache->is_private() && cache->get(kKey) && !cache->put({5, 5}, "payload");
      chmod(own.path().c_str(), 0700);
    }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// In a child, because the limit and the signal apply to the whole process.
TEST_F(DiskCacheTest, WriteThatFailsHalfwayLeavesNothing) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{10'000, 10'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const PutResult result = cache_->put(kKey, std::string(100'000, 'x'));
    _exit(!result && files_in(directory_) == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(DiskCacheTest, FullDiskLeavesNothing) {
  const std::string disk = scratch_.path() + "/disk";
  ASSERT_EQ(mkdir(disk.c_str(), 0700), 0);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0)
    GTEST_SKIP() << "mounting is not permitted";
  {
    const auto cache = DiskCache::open(disk);
    EXPECT_TRUE(cache->put(kKey, "small"));
    const PutResult result = cache->put({5, 5}, std::string(1 << 20, 'x'));
    EXPECT_FALSE(result);
    EXPECT_NE(result.refusal.find("No space"), std::string::npos) << result.refusal;
    EXPECT_EQ(files_in(disk), 1u);
    EXPECT_TRUE(cache->get(kKey));
  }
  umount(disk.c_str());
}

// Every process puts, gets and damages the same few keys; none may ever see a wrong payload.
TEST_F(DiskCacheTest, EightProcessesHammerTheSameKeys) {
  constexpr int kProcesses = 8;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    bool good = true;
    for (int i = 0; i < 300; ++i) {
      const Hash128 key{3, static_cast<std::uint64_t>(i % 4)};
      const std::string payload(5000 + 1000 * static_cast<std::size_t>(i % 4), 'a' + (i % 4));
      if (const auto path = cache_->get(key)) {
        // It may have been deleted since, or truncated by the process below; if whole, it is ours.
        const std::string text = file_text(*path).substr(0, payload.size());
        good = good && payload.starts_with(text);
      }
      good = good && cache_->put(key, payload);
      if (process == 0 && i % 10 == 0)
        if (truncate((directory_ + "/" + key.hex() + ".kernel").c_str(), 100)) continue;
    }
    _exit(good ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_LE(files_in(directory_), 4u);
}

// --- notes and eviction -------------------------------------------------------------------------

void set_age(const std::string& path, std::time_t seconds) {
  const timespec then{std::time(nullptr) - seconds, 0};
  const timespec times[2] = {then, then};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

std::time_t age_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return std::time(nullptr) - info.st_mtim.tv_sec;
}

constexpr std::time_t kDay = 24 * 3600;

TEST_F(DiskCacheTest, NotesAreKeptAndTrustedLikeEntries) {
  EXPECT_FALSE(cache_->get_note(kKey));
  const std::string path = cache_->put_note(kKey, "a text").path;
  EXPECT_EQ(cache_->get_note(kKey), "a text");
  EXPECT_FALSE(cache_->get(kKey));  // it is no entry
  EXPECT_EQ(cache_->stats().entries, 0u);
  chmod(path.c_str(), 0602);
  EXPECT_FALSE(cache_->get_note(kKey));
  cache_->put_note(kKey, "a text");
  ASSERT_EQ(truncate(path.c_str(), 10), 0);
  EXPECT_FALSE(cache_->get_note(kKey));
  cache_->put_note(kKey, "a text");
  cache_->clear();
  EXPECT_FALSE(cache_->get_note(kKey));
}

TEST_F(DiskCacheTest, AnEntryThatIsUsedIsTouchedOnceADay) {
  const std::string path = put("payload");
  set_age(path, kDay / 2);
  EXPECT_TRUE(cache_->get(kKey));
  EXPECT_GE(age_of(path), kDay / 2);
  set_age(path, 2 * kDay);
  EXPECT_TRUE(cache_->get(kKey));
  EXPECT_LT(age_of(path), kDay / 2);
}

TEST_F(DiskCacheTest, TheLeastRecentlyUsedGoFirst) {
  constexpr std::uint64_t kEntries = 10;
  constexpr std::uint64_t kBytes = 10'000;
  const auto cache = DiskCache::open(directory_, kEntries * kBytes);
  EXPECT_EQ(cache->limit(), kEntries * kBytes);
  const std::string payload(kBytes - 100, 'k');
  std::vector<std::string> paths;
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    paths.push_back(cache->put({1, i}, payload).path);
    set_age(paths.back(), static_cast<std::time_t>(kEntries - i) * 10 * kDay);
  }
  EXPECT_EQ(cache->stats().entries, kEntries);
  EXPECT_TRUE(cache->get({1, 0}));  // the oldest, but used now
  cache->put_note({2, 2}, "a note");
  EXPECT_TRUE(cache->put({1, kEntries}, payload));
  EXPECT_LE(cache->stats().bytes, kEntries * kBytes);
  EXPECT_TRUE(cache->get({1, 0}));
  EXPECT_FALSE(cache->get({1, 1}));
  EXPECT_FALSE(cache->get({1, 2}));
  EXPECT_TRUE(cache->get({1, 4}));
  EXPECT_TRUE(cache->get({1, kEntries}));
  EXPECT_TRUE(cache->get_note({2, 2}));
}

TEST_F(DiskCacheTest, OneEntryLargerThanTheLimitStaysUntilTheNext) {
  const auto cache = DiskCache::open(directory_, 1000);
  EXPECT_TRUE(cache->put({1, 1}, std::string(5000, 'k')));
  EXPECT_TRUE(cache->get({1, 1}));
  EXPECT_TRUE(cache->put({1, 2}, "small"));
  EXPECT_FALSE(cache->get({1, 1}));
  EXPECT_TRUE(cache->get({1, 2}));
}

TEST_F(DiskCacheTest, NoLimitAndPrivateCachesKeepEverything) {
  const auto unlimited = DiskCache::open(directory_, 0);
  const auto temporary = DiskCache::open_private();
  for (std::uint64_t i = 0; i < 20; ++i)
    for (const DiskCache* cache : {unlimited.get(), temporary.get()})
      cache->put({1, i}, std::string(1000, 'k'));
  EXPECT_EQ(unlimited->stats().entries, 20u);
  EXPECT_EQ(temporary->stats().entries, 20u);
}

TEST_F(DiskCacheTest, FailedSourcesCountAndOldTemporaryFilesGo) {
  const auto cache = DiskCache::open(directory_, 10'000);
  const std::string failed = directory_ + "/failed-1.cpp";
  const std::string stale = directory_ + "/.tmp-stale";
  const std::string fresh = directory_ + "/.tmp-fresh";
  const std::string notes = directory_ + "/notes.txt";
  for (const std::string& path : {failed, stale, fresh, notes})
    std::ofstream(path) << std::string(9000, 'x');
  for (const std::string& path : {failed, stale, notes}) set_age(path, kDay);
  EXPECT_TRUE(cache->put(kKey, std::string(5000, 'k')));
  EXPECT_FALSE(fs::exists(failed));
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(notes));
}

// Every process writes more than the limit; every entry read is whole.
TEST_F(DiskCacheTest, ManyProcessesEvict) {
  std::vector<pid_t> children;
  for (std::uint64_t process = 0; process < 6; ++process) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    const auto cache = DiskCache::open(directory_, 50'000);
    bool good = true;
    for (std::uint64_t i = 0; i < 200; ++i) {
      good = good && cache->put({process, i % 20}, std::string(2000, 'k'));
      cache->get({(process + 1) % 6, i % 20});
    }
    _exit(good ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto cache = DiskCache::open(directory_, 50'000);
  cache->put(kKey, "last");
  EXPECT_LE(cache->stats().bytes, 50'000u);
}

}  // namespace
}  // namespace sinter
