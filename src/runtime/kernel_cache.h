// Compiled kernels in memory, by their program's key (base/fields.h). Thread-safe: when two threads
// request the same kernel, one compiles it and the other waits. Failed compilations are not
// cached.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "src/base/hash.h"
#include "src/runtime/build_once.h"
#include "src/runtime/compiled_kernel.h"
#include "src/runtime/fork_listener.h"

namespace sinter {

class KernelCache {
 public:
  KernelCache();

  // `compile` runs without the lock held. Its exception goes to all waiting threads; a later call
  // retries.
  KernelPtr get(const Hash128& key, const std::function<KernelPtr()>& compile);
  KernelPtr find(const Hash128& key) const;  // null if not cached
  std::size_t size() const;                  // excludes kernels being compiled
  void clear();                              // kernels in use stay alive
  void drop_if_unused(const Hash128& key);   // drops it unless referenced elsewhere

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Hash128, KernelPtr, Hash128Hasher> kernels_;
  BuildOnce<Hash128, KernelPtr> builds_;
  ForkListener fork_listener_;
};

}  // namespace sinter
