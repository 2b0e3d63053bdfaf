// Directories that still exist at exit are removed by an exit handler, because their owners may sit
// in objects that are never destroyed (the device registry).
#include "src/runtime/temporary_directory.h"

#include <sinter/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>

namespace sinter {
namespace {

// Path -> the process that made it. Never destroyed, so that it outlives every owner.
struct LiveDirectories {
  std::mutex mutex;
  std::map<std::string, pid_t> made_by;

  static LiveDirectories& instance() {
    static LiveDirectories& live = *new LiveDirectories;
    return live;
  }

  LiveDirectories() {
    std::atexit([] {
      while (!instance().made_by.empty()) instance().remove(instance().made_by.begin()->first);
    });
  }

  void add(const std::string& path) {
    const std::lock_guard lock(mutex);
    made_by[path] = getpid();
  }

  void remove(const std::string& path) {
    const std::lock_guard lock(mutex);
    const auto it = made_by.find(path);
    if (it == made_by.end()) return;
    const auto taken = made_by.extract(it);  // `path` may be the key itself
    std::error_code ignored;                 // nobody is left to tell
    if (taken.mapped() == getpid()) std::filesystem::remove_all(taken.key(), ignored);
  }
};

}  // namespace

std::string temporary_root() {
  const char* root = std::getenv("TMPDIR");
  return root && *root ? root : "/tmp";
}

TemporaryDirectory::TemporaryDirectory() : path_(temporary_root() + "/sinter-XXXXXX") {
  if (!mkdtemp(path_.data())) {
    const int code = errno;
    throw DeviceError("[cpu] cannot make a temporary directory in " + temporary_root() + ": " +
                          std::strerror(code) + "; set TMPDIR to a directory that can be written",
                      "mkdtemp", code);
  }
  LiveDirectories::instance().add(path_);
}

TemporaryDirectory::~TemporaryDirectory() { LiveDirectories::instance().remove(path_); }

}  // namespace sinter
