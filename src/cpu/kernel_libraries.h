// Compiled kernels as loaded libraries: from the disk cache, else made and kept there; where the
// cache cannot be used, in a private one.
// In: a key and who makes the library's bytes. Out: the library, ready to be called. Threads that
// ask for one key at once make it once.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "src/base/hash.h"
#include "src/cpu/cpu_kernel.h"
#include "src/cpu/host_compiler.h"
#include "src/runtime/build_once.h"
#include "src/runtime/disk_cache.h"

namespace sinter {

class KernelLibraries {
 public:
  explicit KernelLibraries(const std::string& cache_dir);  // empty: nothing is kept

  struct Found {
    std::unique_ptr<LoadedLibrary> library;
    bool from_disk = false;
  };
  // Of the disk cache alone; nothing where it is not there, or cannot be loaded.
  std::optional<Found> find(const Hash128& key) const;
  // `name` is for messages. DeviceError where a library cannot be kept or loaded.
  Found get(const Hash128& key, const std::string& name, const std::function<std::string()>& make);

  // A library of many kernels, for this process only; null where the text does not compile.
  std::shared_ptr<const LoadedLibrary> make_together(const HostCompiler& compiler,
                                                     const std::string& text);

  const DiskCache& disk_cache() const { return *disk_cache_; }

 private:
  struct Made {
    std::string path;
    std::shared_ptr<const std::string> bytes;
  };

  std::string keep(const Hash128& key, const std::string& library);
  std::string keep_privately(const Hash128& key, const std::string& library);

  std::unique_ptr<DiskCache> disk_cache_;
  std::mutex private_cache_mutex_;
  std::unique_ptr<DiskCache> private_cache_;  // made where disk_cache_ cannot be used
  BuildOnce<Hash128, Made> builds_;
};

}  // namespace sinter
