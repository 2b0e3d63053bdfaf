// Compiled kernels as loaded libraries: from the disk cache, or built and stored there; in a
// private cache if the disk cache is unusable. In: a key and a function that builds the library's
// bytes. Out: the loaded library. Concurrent requests for one key build it once.
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
  explicit KernelLibraries(const std::string& cache_dir);  // empty: no kernels are kept

  struct Found {
    std::unique_ptr<LoadedLibrary> library;
    bool from_disk = false;
  };
  // From the disk cache only; nullopt if it is missing or cannot be loaded.
  std::optional<Found> find(const Hash128& key) const;
  // `name` is for messages. DeviceError if a library cannot be stored or loaded.
  Found get(const Hash128& key, const std::string& name, const std::function<std::string()>& make);

  // One library of many kernels, for this process only; null if it does not compile.
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
  std::unique_ptr<DiskCache> private_cache_;  // created if disk_cache_ is unusable
  BuildOnce<Hash128, Made> builds_;
};

}  // namespace sinter
