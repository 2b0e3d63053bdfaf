// A temporary name beside the file, then rename().
#include "src/base/atomic_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "src/base/check.h"

namespace sinter {

void make_directory(std::string_view op, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!std::filesystem::is_directory(directory))
    fail_user(op, "cannot make the directory {}: {}", directory, error.message());
}

void write_file_atomically(std::string_view op, const std::string& path, std::string_view text) {
  const std::string temporary = fmt::format("{}.tmp-{}", path, getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (file && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int code = errno;
  std::remove(temporary.c_str());
  if (code == ENOSPC || code == EDQUOT || code == EIO)
    throw IoError(fmt::format("[{}] cannot write {}: {}", op, path, std::strerror(code)));
  fail_user(op, "cannot write {}: {}", path, std::strerror(code));
}

}  // namespace sinter
