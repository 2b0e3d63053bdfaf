// Compiled kernels in memory, by their program's key (base/fields.h). Safe from many threads: two
// that ask for the same kernel compile it once, the second waits. A failed compilation is not
// remembered.
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

  // `compile` runs without the lock held. All threads that wait for it get what it throws; a later
  // call tries again.
  KernelPtr get(const Hash128& key, const std::function<KernelPtr()>& compile);
  KernelPtr find(const Hash128& key) const;  // null where there is none
  std::size_t size() const;                  // without those being compiled
  void clear();                              // who holds a kernel keeps it
  void drop_if_unused(const Hash128& key);   // where nobody else holds it

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Hash128, KernelPtr, Hash128Hasher> kernels_;
  BuildOnce<Hash128, KernelPtr> builds_;
  ForkListener fork_listener_;
};

}  // namespace sinter
