// The files in a kernel cache's directory: recognising them by name, and LRU eviction. Safe with
// concurrent processes: a file that vanishes is not an error.
// Names: <key>.kernel for entries, <key>.note for notes, .tmp-<random> while being written,
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
  timespec last_use{};  // modification time; entries are touched when used
};

// Sorted by path, without foreign files.
std::vector<CacheFile> cache_files(const std::string& directory);

// If the files exceed `limit` bytes, deletes entries and failed sources, least recently used first,
// down to 7/8 of `limit`. Always deletes abandoned temporary files. Never deletes `keep`. Returns
// the bytes left.
std::uint64_t evict_least_recently_used(const std::string& directory, std::uint64_t limit,
                                        const std::string& keep);

}  // namespace sinter
