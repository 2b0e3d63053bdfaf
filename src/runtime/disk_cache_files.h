// The files of a kernel cache's directory: which of them are the cache's, and the eviction of the
// least recently used ones. Safe beside other processes: a file that vanishes is nobody's error.
// Names: <key>.kernel for entries, <key>.note for notes, .tmp-<random> while they are written,
// failed-* for sources that did not compile.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace sinter {

inline constexpr char kEntrySuffix[] = ".kernel";
inline constexpr char kNoteSuffix[] = ".note";
inline constexpr char kTemporaryPrefix[] = ".tmp-";

struct CacheFile {
  enum class Kind : std::uint8_t { entry, note, temporary, failed_source };
  std::string path;
  Kind kind = Kind::entry;
  std::uint64_t bytes = 0;
  timespec last_use{};  // the time of change: entries that are used are touched
};

// By path. What others put there is left out.
std::vector<CacheFile> cache_files(const std::string& directory);

// Deletes entries and failed sources, the least recently used first, until they have at most
// `limit` bytes less an eighth, if they have more than `limit`; temporary files that nobody can
// still be writing in any case. `keep` stays. Returns the bytes that are left.
std::uint64_t evict_least_recently_used(const std::string& directory, std::uint64_t limit,
                                        const std::string& keep);

}  // namespace sinter
