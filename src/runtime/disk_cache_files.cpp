// Evicts more than needed at a time, so that a full cache is not sorted on every write.
#include "src/runtime/disk_cache_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <tuple>

namespace sinter {
namespace {

namespace fs = std::filesystem;
using Kind = CacheFile::Kind;

constexpr char kFailedPrefix[] = "failed-";
constexpr std::time_t kTemporarySeconds = 3600;  // far longer than a write takes (milliseconds)

std::optional<Kind> kind_of(std::string_view name) {
  if (name.starts_with(kTemporaryPrefix)) return Kind::temporary;
  if (name.ends_with(kEntrySuffix)) return Kind::entry;
  if (name.ends_with(kNoteSuffix)) return Kind::note;
  if (name.starts_with(kFailedPrefix) && (name.ends_with(".cpp") || name.ends_with(".cu")))
    return Kind::failed_source;
  return std::nullopt;
}

bool is_evictable(const CacheFile& file) {
  return file.kind == Kind::entry || file.kind == Kind::failed_source;
}

bool used_before(const CacheFile& a, const CacheFile& b) {
  return std::tie(a.last_use.tv_sec, a.last_use.tv_nsec, a.path) <
         std::tie(b.last_use.tv_sec, b.last_use.tv_nsec, b.path);
}

}  // namespace

std::vector<CacheFile> cache_files(const std::string& directory) {
  std::vector<CacheFile> files;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::optional<Kind> kind = kind_of(it->path().filename().string());
    struct stat info {};
    if (!kind || lstat(it->path().c_str(), &info) != 0) continue;
    files.push_back(
        {it->path().string(), *kind, static_cast<std::uint64_t>(info.st_size), info.st_mtim});
  }
  std::sort(files.begin(), files.end(),
            [](const CacheFile& a, const CacheFile& b) { return a.path < b.path; });
  return files;
}

std::uint64_t evict_least_recently_used(const std::string& directory, std::uint64_t limit,
                                        const std::string& keep) {
  std::vector<CacheFile> files = cache_files(directory);
  std::uint64_t left = 0;
  for (const CacheFile& file : files) {
    if (is_evictable(file)) left += file.bytes;
    if (file.kind == Kind::temporary &&
        file.last_use.tv_sec + kTemporarySeconds < std::time(nullptr))
      ::unlink(file.path.c_str());
  }
  if (left <= limit) return left;
  std::sort(files.begin(), files.end(), used_before);
  for (const CacheFile& file : files) {
    if (left <= limit - limit / 8) break;
    if (!is_evictable(file) || file.path == keep) continue;
    ::unlink(file.path.c_str());
    left -= file.bytes;
  }
  return left;
}

}  // namespace sinter
