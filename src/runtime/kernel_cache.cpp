// Holds finished kernels; BuildOnce tracks those being compiled.
// The key hashes the program's fields rather than its text: no strings are made for a cache hit.
#include "src/runtime/kernel_cache.h"

#include <utility>

namespace sinter {
KernelCache::KernelCache()
    : fork_listener_([this] { mutex_.lock(); }, [this](bool) { mutex_.unlock(); }) {}

KernelPtr KernelCache::find(const Hash128& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = kernels_.find(key);
  return it == kernels_.end() ? nullptr : it->second;
}

KernelPtr KernelCache::get(const Hash128& key, const std::function<KernelPtr()>& compile) {
  if (KernelPtr kernel = find(key)) return kernel;
  return builds_.run(key, [&] {
    if (KernelPtr kernel = find(key)) return kernel;
    KernelPtr kernel = compile();
    KernelPtr replaced = kernel;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    kernels_[key].swap(replaced);
    return kernel;
  });
}

std::size_t KernelCache::size() const {
  const std::lock_guard lock(mutex_);
  return kernels_.size();
}

void KernelCache::clear() {
  decltype(kernels_) dropped;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  dropped.swap(kernels_);
}

void KernelCache::drop_if_unused(const Hash128& key) {
  KernelPtr dropped;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto it = kernels_.find(key);
  // The count is exact: without other owners, the pointer is only copied from here, under the lock.
  if (it == kernels_.end() || it->second.use_count() != 1) return;
  dropped = std::move(it->second);
  kernels_.erase(it);
}

}  // namespace sinter
