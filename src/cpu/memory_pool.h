// The CPU device's caching memory pool. Freed blocks stay mapped for reuse within their size class,
// so a warm program makes no system allocations. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/cpu/spin.h"
#include "src/runtime/device.h"
#include "src/runtime/fork_listener.h"

namespace sinter {

inline constexpr std::size_t kPoolAlignment = 64;
// Allocated with mmap from this size on.
inline constexpr std::size_t kLargeBlock = std::size_t{1} << 20;

// Size classes: multiples of 64 bytes up to 512, then 8 per power of two; at most an eighth is
// wasted.
int size_class(std::size_t bytes);
std::size_t class_bytes(int size_class);

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  static std::shared_ptr<MemoryPool> create(std::string device = "cpu");  // for messages
  ~MemoryPool();

  // The storage keeps the pool alive. DeviceError if memory runs out.
  StoragePtr allocate(std::size_t bytes);
  void set_allocator(AllocatorPtr allocator) { hook_.set(std::move(allocator)); }

  MemoryStats stats() const;  // counted in size-class bytes; in bytes from a caller's allocator
  void reset_peak();
  void release_cached();          // returns free blocks to the system
  std::size_t available() const;  // free system memory plus cached blocks

 private:
  friend class PoolStorage;
  friend class AllocatedStorage;
  static constexpr int kClasses = 8 + 8 * 39;  // up to 2^48 bytes

  // Cache-line aligned, so that threads using different sizes do not contend.
  struct alignas(64) FreeList {
    SpinLock lock;
    std::vector<void*> blocks;
    std::size_t mapped_blocks = 0;  // free or in use; `blocks` has capacity for all
  };

  explicit MemoryPool(std::string device);
  StoragePtr allocate_from(const AllocatorPtr& allocator, std::size_t bytes);
  void* take_cached(int size_class);
  void* map_new(int size_class, std::size_t requested);
  void check_available(std::size_t bytes, std::size_t requested);
  void release(void* data, int size_class) noexcept;
  void count_use(std::size_t bytes);

  const std::string device_;
  AllocatorHook hook_;
  std::array<FreeList, kClasses> free_lists_;
  std::atomic<std::size_t> in_use_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::size_t> outside_{0};  // the part of in_use_ from a caller's allocator
  std::atomic<std::size_t> mapped_{0};
  std::atomic<std::size_t> unchecked_{0};  // bytes mapped since free memory was last checked
  ForkListener fork_listener_;
};

}  // namespace sinter
