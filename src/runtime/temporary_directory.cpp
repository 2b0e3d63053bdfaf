// All temporary directories of a process are in one folder, sinter-<pid>-<random>, which the
// process holds a lock on. The folder is removed with the last directory, at the latest at exit,
// because owners may live in objects that are never destroyed (the device registry). A killed
// process's folder is removed by the next process that creates one.
#include "src/runtime/temporary_directory.h"

#include <fcntl.h>
#include <signal.h>
#include <sinter/error.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "src/runtime/fork_listener.h"

namespace sinter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "sinter-";

// This process's folder, readable from a signal handler.
struct FolderForSignals {
  std::atomic<pid_t> process = 0;  // 0: no folder
  char path[PATH_MAX] = {};
};
FolderForSignals g_folder;

[[noreturn]] void fail_to_make(int code) {
  throw DeviceError("[cpu] cannot make a temporary directory in " + temporary_root() + ": " +
                        std::strerror(code) + "; set TMPDIR to a directory that can be written",
                    "mkdtemp", code);
}

// Locked while the descriptor is open; -1 if another process holds the lock or the file does not
// exist.
int open_locked(const std::string& path, int operation) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || flock(fd, operation | LOCK_NB) == 0) return fd;
  ::close(fd);
  return -1;
}

// The pid in the name of one of our folders.
std::optional<pid_t> process_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  if (error != std::errc() || process <= 0) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(name.data() + name.size() - end));
  return rest.size() == 7 && rest[0] == '-' ? std::optional(process) : std::nullopt;
}

// The lock covers processes that are not visible here, such as those of another container.
void remove_if_stale(const fs::path& path) {
  const std::optional<pid_t> process = process_of(path.filename().string());
  if (!process || kill(*process, 0) == 0 || errno != ESRCH) return;
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) return;
  const int fd = open_locked(path.string(), LOCK_EX);
  if (fd < 0) return;
  std::error_code ignored;
  fs::remove_all(path, ignored);
  ::close(fd);
}

void remove_stale_folders(const std::string& root) {
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error))
    remove_if_stale(it->path());
}

// Never destroyed, so that it outlives every owner.
class ProcessFolder {
 public:
  static ProcessFolder& instance() {
    static ProcessFolder& folder = *new ProcessFolder;
    return folder;
  }

  std::string add_directory() {
    const std::lock_guard guard(mutex_);
    if (process_ != getpid() || path_.empty()) make_folder();
    std::string directory = path_ + "/XXXXXX";
    if (!mkdtemp(directory.data())) fail_to_make(errno);
    ++directories_;
    return directory;
  }

  void remove_directory(const std::string& directory) {
    const std::lock_guard guard(mutex_);
    // Directories of the parent process are left alone.
    if (process_ != getpid() || !directory.starts_with(path_ + "/")) return;
    std::error_code ignored;  // errors cannot be reported here
    fs::remove_all(directory, ignored);
    if (--directories_ == 0) remove_folder();
  }

 private:
  ProcessFolder() {
    std::atexit([] {
      ProcessFolder& folder = instance();
      const std::lock_guard guard(folder.mutex_);
      if (folder.process_ == getpid() && !folder.path_.empty()) folder.remove_folder();
    });
  }

  void make_folder() {
    if (lock_ >= 0) ::close(lock_);  // inherited from the parent
    lock_ = -1;
    directories_ = 0;
    if (std::exchange(process_, getpid()) != getpid()) remove_stale_folders(temporary_root());
    path_ = temporary_root() + "/" + std::string(kPrefix) + std::to_string(process_) + "-XXXXXX";
    if (!mkdtemp(path_.data())) {
      const int code = errno;
      path_.clear();
      fail_to_make(code);
    }
    lock_ = open_locked(path_, LOCK_SH);
    if (path_.size() >= sizeof(g_folder.path)) return;
    std::memcpy(g_folder.path, path_.c_str(), path_.size() + 1);
    g_folder.process = process_;
  }

  void remove_folder() {
    g_folder.process = 0;
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (lock_ >= 0) ::close(lock_);
    lock_ = -1;
    path_.clear();
    directories_ = 0;
  }

  std::mutex mutex_;
  pid_t process_ = 0;  // creator of the folder
  std::string path_;   // empty: no folder
  int lock_ = -1;
  int directories_ = 0;
  ForkListener fork_listener_{[this] { mutex_.lock(); }, [this](bool) { mutex_.unlock(); }};
};

// The layout that getdents64 writes.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];
};

// System calls only: runs in signal handlers.
void remove_contents(int directory, int depth) {
  alignas(DirectoryEntry) char buffer[2048];
  for (;;) {
    const long got = syscall(SYS_getdents64, directory, buffer, sizeof(buffer));
    if (got <= 0) return;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      at += entry->bytes;
      const char* name = entry->name;
      if (name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]))) continue;
      if (unlinkat(directory, name, 0) == 0 || depth == 0) continue;
      const int below = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (below < 0) continue;
      remove_contents(below, depth - 1);
      ::close(below);
      unlinkat(directory, name, AT_REMOVEDIR);
    }
  }
}

}  // namespace

std::string temporary_root() {
  const char* root = std::getenv("TMPDIR");
  return root && *root ? root : "/tmp";
}

TemporaryDirectory::TemporaryDirectory() : path_(ProcessFolder::instance().add_directory()) {}

TemporaryDirectory::~TemporaryDirectory() { ProcessFolder::instance().remove_directory(path_); }

void remove_temporary_directories_in_handler() {
  constexpr int kDepth = 8;
  if (g_folder.process != getpid()) return;
  const int folder = ::open(g_folder.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  remove_contents(folder, kDepth);
  ::close(folder);
  ::rmdir(g_folder.path);
}

}  // namespace sinter
