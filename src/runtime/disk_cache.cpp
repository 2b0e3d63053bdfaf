// Trust is decided on the open file descriptor, so that what was checked is what is read.
// Names: <key>.kernel for entries, .tmp-<random> while they are written, failed-* for sources
// that did not compile.
#include "src/runtime/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "src/base/check.h"

namespace sinter {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".kernel";
constexpr char kTemporaryPrefix[] = ".tmp-";
constexpr char kFailedPrefix[] = "failed-";
constexpr std::uint64_t kMagic = 0x31656e72656b6e73;  // "snkerne1", little endian

struct Trailer {
  std::uint64_t magic = kMagic;
  std::uint64_t payload_bytes = 0;
  Hash128 checksum;
};

// Closes what it holds.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int fd() const { return fd_; }
  // Some file systems report a full disk only here.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// The key is part of it: an entry under another key's name is a damaged one.
Hash128 checksum_of(const Hash128& key, std::string_view payload) {
  return Hasher().add(key).add(payload).finish();
}

bool trusted(const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_uid == geteuid() && !(info.st_mode & (S_IWGRP | S_IWOTH));
}

bool read_all(int fd, char* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::read(fd, to, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool intact(int fd, std::size_t bytes, const Hash128& key) {
  if (bytes < sizeof(Trailer)) return false;
  std::vector<char> data(bytes);
  if (!read_all(fd, data.data(), bytes)) return false;
  const std::size_t payload_bytes = bytes - sizeof(Trailer);
  Trailer trailer;
  std::memcpy(&trailer, data.data() + payload_bytes, sizeof(Trailer));
  return trailer.magic == kMagic && trailer.payload_bytes == payload_bytes &&
         trailer.checksum == checksum_of(key, {data.data(), payload_bytes});
}

bool write_all(int fd, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

bool write_entry(int fd, const Hash128& key, std::string_view payload) {
  File file(fd);
  const Trailer trailer{kMagic, payload.size(), checksum_of(key, payload)};
  return write_all(fd, payload.data(), payload.size()) &&
         write_all(fd, &trailer, sizeof(trailer)) && file.close();
}

}  // namespace

std::string DiskCache::refuse_directory(const std::string& directory) {
  if (directory.empty()) return "no cache directory is known (HOME is not set)";
  std::error_code error;
  const fs::path parent = fs::path(directory).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  if (mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return fmt::format("cannot make {}: {}", directory, std::strerror(errno));

  struct stat link {};
  struct stat info {};
  if (lstat(directory.c_str(), &link) != 0 || stat(directory.c_str(), &info) != 0)
    return fmt::format("cannot look at {}: {}", directory, std::strerror(errno));
  if (S_ISLNK(link.st_mode) && link.st_uid != geteuid())
    return fmt::format("{} is a symbolic link of another user", directory);
  if (!S_ISDIR(info.st_mode)) return fmt::format("{} is not a directory", directory);
  if (info.st_uid != geteuid()) return fmt::format("{} belongs to another user", directory);
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return fmt::format("{} can be written by other users (chmod go-w it)", directory);
  return "";
}

std::unique_ptr<DiskCache> DiskCache::open(const std::string& directory) {
  const std::string refusal = refuse_directory(directory);
  if (!refusal.empty()) {
    warn_once(fmt::format("compiled kernels are not kept: {}", refusal));
    return open_private();
  }
  std::unique_ptr<DiskCache> cache(new DiskCache);
  cache->directory_ = directory;
  return cache;
}

std::unique_ptr<DiskCache> DiskCache::open_private() {
  std::unique_ptr<DiskCache> cache(new DiskCache);
  cache->temporary_ = std::make_unique<TemporaryDirectory>();
  cache->directory_ = cache->temporary_->path();
  return cache;
}

std::string DiskCache::path_of(const Hash128& key) const {
  return directory_ + "/" + key.hex() + kSuffix;
}

std::optional<std::string> DiskCache::get(const Hash128& key) const {
  std::string path = path_of(key);
  // O_NONBLOCK: a fifo under an entry's name must not hold us up.
  const File file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (file.fd() < 0) {
    if (errno == ELOOP) ::unlink(path.c_str());  // a symbolic link
    return std::nullopt;
  }
  struct stat info {};
  if (fstat(file.fd(), &info) == 0 && trusted(info) &&
      intact(file.fd(), static_cast<std::size_t>(info.st_size), key))
    return path;
  ::unlink(path.c_str());
  return std::nullopt;
}

PutResult DiskCache::put(const Hash128& key, std::string_view payload) const {
  std::string temporary = directory_ + "/" + kTemporaryPrefix + "XXXXXX";
  std::string path = path_of(key);
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd >= 0) {
    if (write_entry(fd, key, payload) && std::rename(temporary.c_str(), path.c_str()) == 0)
      return {std::move(path), ""};
    const int code = errno;
    ::unlink(temporary.c_str());
    errno = code;
  }
  return {"", fmt::format("cannot write to {}: {}", directory_, std::strerror(errno))};
}

std::vector<DiskCacheEntry> DiskCache::list() const {
  std::vector<DiskCacheEntry> entries;
  std::error_code error;
  for (fs::directory_iterator it(directory_, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != kSuffix) continue;
    std::error_code vanished;
    const auto bytes = it->file_size(vanished);
    if (!vanished) entries.push_back({it->path().string(), bytes});
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return entries;
}

DiskCacheStats DiskCache::stats() const {
  DiskCacheStats stats;
  for (const DiskCacheEntry& entry : list()) {
    ++stats.entries;
    stats.bytes += entry.bytes;
  }
  return stats;
}

void DiskCache::clear() const {
  std::error_code error;
  std::vector<fs::path> ours;
  for (fs::directory_iterator it(directory_, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.ends_with(kSuffix) || name.starts_with(kTemporaryPrefix) ||
        (name.starts_with(kFailedPrefix) && (name.ends_with(".cpp") || name.ends_with(".cu"))))
      ours.push_back(it->path());
  }
  for (const fs::path& path : ours) ::unlink(path.c_str());
}

}  // namespace sinter
