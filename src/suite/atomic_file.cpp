// A temporary name beside the file, then rename(). In: path and text. Out: the file, or UserError.
#include "src/suite/atomic_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "src/base/check.h"

namespace sinter::suite {

void make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!std::filesystem::is_directory(directory))
    fail_user("suite", "cannot make the directory {}: {}", directory, error.message());
}

void write_file_atomically(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.tmp-{}", path, getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (file && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int code = errno;
  std::remove(temporary.c_str());
  fail_user("suite", "cannot write {}: {}", path, std::strerror(code));
}

}  // namespace sinter::suite
