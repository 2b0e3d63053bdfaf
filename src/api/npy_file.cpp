// POSIX file access: reads check the size first, writes go to a temporary file that is renamed.
#include "src/api/npy_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

#include "src/api/npy_errors.h"

namespace sinter {
namespace {

// Resolves links, so that a link stays. Refuses pipes and /dev/null, which rename() would replace
// with a file.
std::filesystem::path target_of(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    fail_save(path, "it exists and is not a regular file");
  std::filesystem::path resolved = std::filesystem::canonical(path, error);
  return error ? std::filesystem::path(path) : resolved;
}

}  // namespace

NpyInput::NpyInput(const std::string& path) : path_(path) {
  // O_NONBLOCK: opening a pipe would block until its other end opens.
  fd_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd_ < 0) fail_load(path, "cannot open it: {}", errno_text(errno));
  struct stat info {};
  const int code = ::fstat(fd_, &info) == 0 ? 0 : errno;
  if (code != 0 || !S_ISREG(info.st_mode)) ::close(std::exchange(fd_, -1));
  if (code != 0) fail_load(path, "cannot open it: {}", errno_text(code));
  if (fd_ < 0) fail_load(path, "it is not a regular file");
  left_ = static_cast<std::size_t>(info.st_size);
}

NpyInput::~NpyInput() {
  if (fd_ >= 0) ::close(fd_);
}

void NpyInput::read(void* destination, std::size_t bytes, std::string_view what) {
  if (bytes > left_) fail_short(what, bytes);
  auto* to = static_cast<std::byte*>(destination);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t got = ::read(fd_, to + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_if_disk_failed("load_npy", path_, errno);
    if (got < 0) fail_load(path_, "cannot read it: {}", errno_text(errno));
    if (got == 0) fail_load(path_, "it became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
  left_ -= bytes;
}

void NpyInput::fail_short(std::string_view what, std::size_t bytes) const {
  fail_load(path_, "the file is too short: {} needs {} bytes, {} are left", what, bytes, left_);
}

NpyOutput::NpyOutput(const std::string& path) : path_(path), target_(target_of(path)) {
  std::random_device random;
  do {
    // Not mkstemp, whose files are owner-only whatever the umask.
    temporary_ = target_.parent_path() / fmt::format(".sinter-{:08x}.npy", random());
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) fail("cannot write in its directory");
}

NpyOutput::~NpyOutput() {
  if (fd_ >= 0) ::close(fd_);
  if (!committed_) ::unlink(temporary_.c_str());
}

void NpyOutput::write(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t put = ::write(fd_, from + done, bytes - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("cannot write it");
    done += static_cast<std::size_t>(put);
  }
}

void NpyOutput::commit() {
  // Some file systems report a full disk only here.
  if (::close(std::exchange(fd_, -1)) != 0) fail("cannot write it");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot put it in place");
  committed_ = true;
}

void NpyOutput::fail(std::string_view what) const {
  const int code = errno;
  throw_if_disk_failed("save_npy", path_, code);
  fail_save(path_, "{}: {}", what, errno_text(code));
}

}  // namespace sinter
