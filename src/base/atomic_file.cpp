// Writes to a unique temporary name beside the file, then renames.
#include "src/base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "src/base/check.h"

namespace sinter {
namespace {

// Other threads may write the same file. O_NOFOLLOW semantics: a link someone planted under the
// name is not followed.
int open_temporary(const std::string& path, std::string& temporary) {
  static std::atomic<unsigned> count = 0;
  int fd = -1;
  do {
    temporary = fmt::format("{}.tmp-{}-{}", path, getpid(), count++);
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EEXIST);
  return fd;
}

// Also closes it: some file systems report a full disk only then. On false, errno has the reason.
bool write_and_close(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int code = errno;
      ::close(fd);
      errno = code;
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::close(fd) == 0;
}

[[noreturn]] void fail_to_write(std::string_view op, const std::string& path, int code) {
  if (code == ENOSPC || code == EDQUOT || code == EIO)
    throw IoError(fmt::format("[{}] cannot write {}: {}", op, path, std::strerror(code)));
  fail_user(op, "cannot write {}: {}", path, std::strerror(code));
}

}  // namespace

void make_directory(std::string_view op, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!std::filesystem::is_directory(directory))
    fail_user(op, "cannot create the directory {}: {}", directory, error.message());
}

void write_file_atomically(std::string_view op, const std::string& path, std::string_view text) {
  std::string temporary;
  const int fd = open_temporary(path, temporary);
  if (fd < 0) fail_to_write(op, path, errno);
  if (write_and_close(fd, text) && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int code = errno;
  ::unlink(temporary.c_str());
  fail_to_write(op, path, code);
}

}  // namespace sinter
