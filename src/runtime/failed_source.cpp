// Failing to write the file is not an error: the compiler's error is reported in any case.
#include "src/runtime/failed_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "src/base/hash.h"
#include "src/runtime/temporary_directory.h"

namespace sinter {
namespace {

bool write_and_close(int fd, const std::string& text) {
  if (fd < 0) return false;
  const ssize_t written = write(fd, text.data(), text.size());
  return close(fd) == 0 && written == static_cast<ssize_t>(text.size());
}

}  // namespace

std::string save_failed_source(const std::string& directory, const std::string& source,
                               const std::string& ending) {
  std::string path = fmt::format("{}/failed-{}{}", directory, hash_bytes(source).hex(), ending);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
  if (!directory.empty() && write_and_close(open(path.c_str(), kFlags, 0600), source)) return path;
  // Others can write there too, so the name must be unpredictable.
  path = temporary_root() + "/sinter-failed-XXXXXX" + ending;
  const int fd = mkostemps(path.data(), static_cast<int>(ending.size()), O_CLOEXEC);
  return write_and_close(fd, source) ? path : "";
}

}  // namespace sinter
