// Compiled kernels on disk: one file per key, in one directory that only its owner may write. In: a
// 128-bit key of everything that went into a kernel. Out: the path of a verified file. An entry is
// the payload followed by a trailer with its length and checksum, which a shared library tolerates.
// The size is bounded by evicting the least recently used entries.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/hash.h"
#include "src/base/options.h"
#include "src/runtime/temporary_directory.h"

namespace sinter {

struct DiskCacheEntry {
  std::string path;
  std::uint64_t bytes = 0;
};

struct DiskCacheStats {
  std::size_t entries = 0;
  std::uint64_t bytes = 0;
};

// A path, or the reason there is none.
struct PutResult {
  std::string path;
  std::string refusal;
  explicit operator bool() const { return refusal.empty(); }
};

class DiskCache {
 public:
  // Creates the directory if it is missing. If it cannot be trusted or used, warns and falls back
  // to a private temporary one. `limit` is in bytes; 0: none.
  static std::unique_ptr<DiskCache> open(
      const std::string& directory, std::uint64_t limit = environment_options().cache_limit_bytes);
  // A private temporary directory, removed at exit.
  static std::unique_ptr<DiskCache> open_private();

  // Why `directory` cannot be a cache; empty if it can. Creates it if it is missing.
  static std::string refuse_directory(const std::string& directory);

  // nullopt if the entry is missing, damaged or untrusted; the latter two are deleted. Updates the
  // entry's use time at most once a day.
  std::optional<std::string> get(const Hash128& key) const;
  // Atomic: other processes see the whole entry or none. A failure leaves nothing behind.
  PutResult put(const Hash128& key, std::string_view payload) const;

  // Short texts stored beside the entries and trusted like them; never evicted, not listed.
  std::optional<std::string> get_note(const Hash128& key) const;
  PutResult put_note(const Hash128& key, std::string_view text) const;

  std::vector<DiskCacheEntry> list() const;  // sorted by path
  DiskCacheStats stats() const;
  void clear() const;  // removes only the files of this class and of failed compilations

  const std::string& directory() const { return directory_; }
  bool is_private() const { return temporary_ != nullptr; }
  std::uint64_t limit() const { return limit_; }  // in bytes; 0: none

 private:
  DiskCache() = default;
  std::string path_of(const Hash128& key, const char* suffix) const;
  PutResult write(const Hash128& key, const char* suffix, std::string_view payload) const;
  void make_room(const std::string& newest, std::uint64_t bytes) const;

  std::unique_ptr<TemporaryDirectory> temporary_;
  std::string directory_;
  std::uint64_t limit_ = 0;
  mutable std::atomic<std::uint64_t> puts_ = 0;
  mutable std::atomic<std::uint64_t> bytes_ = 0;  // approximate: other processes write too
};

}  // namespace sinter
