// Files are checked through the open descriptor, so the file that was checked is the file that is
// read.
#include "src/runtime/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "src/base/check.h"
#include "src/runtime/disk_cache_files.h"

namespace sinter {
namespace {

namespace fs = std::filesystem;

// An entry's use time is updated at most once a day.
constexpr std::time_t kTouchSeconds = 24 * 3600;
// Puts between scans for other processes' entries.
constexpr std::uint64_t kPutsBetweenLooks = 64;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // largest plausible entry
constexpr std::uint64_t kMagic = 0x31656e72656b6e73;      // "snkerne1", little endian

struct Trailer {
  std::uint64_t magic = kMagic;
  std::uint64_t payload_bytes = 0;
  Hash128 checksum;
};

// Owns a file descriptor.
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

// Includes the key: an entry stored under another key's name counts as damaged.
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

// The payload if the file is intact.
std::optional<std::string> payload_of(int fd, std::size_t bytes, const Hash128& key) {
  if (bytes < sizeof(Trailer) || bytes > kMostBytes) return std::nullopt;
  std::string data(bytes, '\0');
  if (!read_all(fd, data.data(), bytes)) return std::nullopt;
  const std::size_t payload_bytes = bytes - sizeof(Trailer);
  Trailer trailer;
  std::memcpy(&trailer, data.data() + payload_bytes, sizeof(Trailer));
  data.resize(payload_bytes);
  if (trailer.magic != kMagic || trailer.payload_bytes != payload_bytes ||
      trailer.checksum != checksum_of(key, data))
    return std::nullopt;
  return data;
}

// The payload if the file is trusted and intact; otherwise deletes the file.
std::optional<std::string> read_entry(const std::string& path, const Hash128& key) {
  // O_NONBLOCK: opening a fifo under an entry's name must not block.
  const File file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (file.fd() < 0) {
    if (errno == ELOOP) ::unlink(path.c_str());  // a symbolic link
    return std::nullopt;
  }
  struct stat info {};
  std::optional<std::string> payload;
  if (fstat(file.fd(), &info) == 0 && trusted(info))
    payload = payload_of(file.fd(), static_cast<std::size_t>(info.st_size), key);
  if (!payload)
    ::unlink(path.c_str());
  else if (info.st_mtim.tv_sec + kTouchSeconds < std::time(nullptr))
    futimens(file.fd(), nullptr);  // where that is not allowed, the entry is evicted earlier
  return payload;
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

std::unique_ptr<DiskCache> DiskCache::open(const std::string& directory, std::uint64_t limit) {
  const std::string refusal = refuse_directory(directory);
  if (!refusal.empty()) {
    warn_once(fmt::format("compiled kernels are not kept: {}", refusal));
    return open_private();
  }
  std::unique_ptr<DiskCache> cache(new DiskCache);
  cache->directory_ = directory;
  cache->limit_ = limit;
  return cache;
}

std::unique_ptr<DiskCache> DiskCache::open_private() {
  std::unique_ptr<DiskCache> cache(new DiskCache);
  cache->temporary_ = std::make_unique<TemporaryDirectory>();
  cache->directory_ = cache->temporary_->path();
  return cache;
}

std::string DiskCache::path_of(const Hash128& key, const char* suffix) const {
  return directory_ + "/" + key.hex() + suffix;
}

std::optional<std::string> DiskCache::get(const Hash128& key) const {
  std::string path = path_of(key, kEntrySuffix);
  if (!read_entry(path, key)) return std::nullopt;
  return path;
}

PutResult DiskCache::put(const Hash128& key, std::string_view payload) const {
  PutResult kept = write(key, kEntrySuffix, payload);
  if (kept) make_room(kept.path, payload.size() + sizeof(Trailer));
  return kept;
}

std::optional<std::string> DiskCache::get_note(const Hash128& key) const {
  return read_entry(path_of(key, kNoteSuffix), key);
}

PutResult DiskCache::put_note(const Hash128& key, std::string_view text) const {
  return write(key, kNoteSuffix, text);
}

PutResult DiskCache::write(const Hash128& key, const char* suffix, std::string_view payload) const {
  std::string temporary = directory_ + "/" + kTemporaryPrefix + "XXXXXX";
  std::string path = path_of(key, suffix);
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

void DiskCache::make_room(const std::string& newest, std::uint64_t bytes) const {
  if (limit_ == 0) return;
  const std::uint64_t total = bytes_ += bytes;
  if (puts_++ % kPutsBetweenLooks == 0 || total > limit_)
    bytes_ = evict_least_recently_used(directory_, limit_, newest);
}

std::vector<DiskCacheEntry> DiskCache::list() const {
  std::vector<DiskCacheEntry> entries;
  for (const CacheFile& file : cache_files(directory_))
    if (file.kind == CacheFile::Kind::entry) entries.push_back({file.path, file.bytes});
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
  for (const CacheFile& file : cache_files(directory_)) ::unlink(file.path.c_str());
}

}  // namespace sinter
