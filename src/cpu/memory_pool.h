// The CPU device's memory: a caching pool. What a tensor gives back stays mapped for the next one
// of its size class, so a warm program asks the system for nothing. Safe from many threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/cpu/spin.h"
#include "src/runtime/device.h"
#include "src/runtime/fork_listener.h"

namespace sinter {

inline constexpr std::size_t kPoolAlignment = 64;
inline constexpr std::size_t kLargeBlock = std::size_t{1} << 20;  // from here on by mmap

// Classes: multiples of 64 bytes up to 512, then 8 to each power of two; at most an eighth is
// wasted.
int size_class(std::size_t bytes);
std::size_t class_bytes(int size_class);

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  static std::shared_ptr<MemoryPool> create();
  ~MemoryPool();

  // The storage keeps the pool alive. DeviceError when there is no more memory.
  StoragePtr allocate(std::size_t bytes);

  MemoryStats stats() const;  // in bytes of the size classes
  void reset_peak();
  void release_cached();          // back to the system
  std::size_t available() const;  // what the system has free, and what is cached here

 private:
  friend class PoolStorage;
  static constexpr int kClasses = 8 + 8 * 39;  // up to 2^48 bytes

  // On a cache line of its own: threads that use different sizes do not meet.
  struct alignas(64) FreeList {
    SpinLock lock;
    std::vector<void*> blocks;
    std::size_t mapped_blocks = 0;  // free or in use; `blocks` has room for all of them
  };

  MemoryPool();
  void* take_cached(int size_class);
  void* map_new(int size_class, std::size_t requested);
  void check_available(std::size_t bytes, std::size_t requested);
  void release(void* data, int size_class) noexcept;
  void count_use(std::size_t bytes);

  std::array<FreeList, kClasses> free_lists_;
  std::atomic<std::size_t> in_use_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::size_t> mapped_{0};
  std::atomic<std::size_t> unchecked_{0};  // mapped since the system's free memory was looked at
  ForkListener fork_listener_;
};

}  // namespace sinter
