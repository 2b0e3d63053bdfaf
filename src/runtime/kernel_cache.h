// Compiled kernels in memory, by what their program says. Safe from many threads: two that ask for
// the same kernel compile it once, the second waits. A failed compilation is not remembered.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "src/base/hash.h"
#include "src/runtime/device.h"
#include "src/runtime/fork_listener.h"

namespace sinter {

// Of every field: programs with the same key are the same.
Hash128 program_key(const tile::TileProgram& program);

class KernelCache {
 public:
  KernelCache();

  // `compile` runs without the lock held; what it throws goes to its caller, and the next one who
  // asks tries again.
  KernelPtr get(const Hash128& key, const std::function<KernelPtr()>& compile);
  std::size_t size() const;                 // finished ones
  void clear();                             // who holds a kernel keeps it
  void drop_if_unused(const Hash128& key);  // where nobody else holds it

 private:
  void forget_unfinished();

  mutable std::mutex mutex_;
  std::unique_ptr<std::condition_variable> finished_;
  std::unordered_map<Hash128, KernelPtr, Hash128Hasher> kernels_;  // null while compiling
  ForkListener fork_listener_;
};

}  // namespace sinter
