// get() looks on disk first, then compiles.
#include "src/cpu/kernel_libraries.h"

#include <cerrno>

#include "src/base/check.h"

namespace sinter {

KernelLibraries::KernelLibraries(const std::string& cache_dir)
    : disk_cache_(cache_dir.empty() ? DiskCache::open_private() : DiskCache::open(cache_dir)) {}

std::optional<KernelLibraries::Found> KernelLibraries::find(const Hash128& key) const {
  std::string error;
  if (const auto path = disk_cache_->get(key))
    if (auto library = LoadedLibrary::load(*path, error)) return Found{std::move(library), true};
  return std::nullopt;
}

KernelLibraries::Found KernelLibraries::get(const Hash128& key, const std::string& name,
                                            const std::function<std::string()>& make) {
  if (std::optional<Found> kept = find(key)) return std::move(*kept);
  std::string error;
  const Made made = builds_.run(key, [&] {
    auto bytes = std::make_shared<const std::string>(make());
    return Made{keep(key, *bytes), bytes};
  });
  auto library = LoadedLibrary::load(made.path, error);
  // The cache may be on a noexec mount, or another process may have cleared it.
  if (!library) library = LoadedLibrary::load(keep_privately(key, *made.bytes), error);
  if (!library)
    throw DeviceError(fmt::format("[cpu] cannot load kernel {}: {}", name, error), "dlopen",
                      ENOEXEC);
  return {std::move(library), false};
}

std::shared_ptr<const LoadedLibrary> KernelLibraries::make_together(const HostCompiler& compiler,
                                                                    const std::string& text) {
  try {
    std::string error;
    return LoadedLibrary::load(
        keep_privately(hash_bytes(text), compiler.compile(text, "of a batch")), error);
  } catch (const CompileError&) {
    return nullptr;
  }
}

// Returns the path of the library on disk.
std::string KernelLibraries::keep(const Hash128& key, const std::string& library) {
  const PutResult kept = disk_cache_->put(key, library);
  if (kept) return kept.path;
  warn_once(fmt::format("compiled kernels are not kept: {}", kept.refusal));
  return keep_privately(key, library);
}

std::string KernelLibraries::keep_privately(const Hash128& key, const std::string& library) {
  const std::lock_guard lock(private_cache_mutex_);
  PutResult kept{"", "not tried"};
  if (private_cache_) kept = private_cache_->put(key, library);
  if (!kept) {
    // There is none yet, or it was removed with the process we were forked from.
    private_cache_ = DiskCache::open_private();
    kept = private_cache_->put(key, library);
  }
  if (!kept)
    throw DeviceError("[cpu] cannot store a compiled kernel: " + kept.refusal, "write", EIO);
  return kept.path;
}

}  // namespace sinter
