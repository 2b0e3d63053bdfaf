// AllocatorHook: the allocator that a caller has set for a device (sinter/allocator.h), and
// allocation through it. Used by the devices' pools. Thread-safe.
#pragma once

#include <sinter/allocator.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "src/runtime/fork_listener.h"

namespace sinter {

using AllocatorPtr = std::shared_ptr<const Allocator>;

class AllocatorHook {
 public:
  AllocatorHook();
  void set(AllocatorPtr allocator);  // null: none
  // Null if none is set; that check is one load.
  AllocatorPtr get() const { return is_set_.load(std::memory_order_acquire) ? current() : nullptr; }

 private:
  AllocatorPtr current() const;

  std::atomic<bool> is_set_{false};
  mutable std::mutex mutex_;
  AllocatorPtr allocator_;
  ForkListener fork_listener_;
};

struct MemoryRequest {
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  void* stream = nullptr;
};

// Null if the allocator is out of memory. DeviceError naming the device if memory is misaligned.
void* ask(const Allocator& allocator, const MemoryRequest& request, const std::string& device);
void give_back_to(const Allocator& allocator, void* data, std::size_t bytes, void* stream) noexcept;
// Size to request: at least 1, since an allocator is never asked for 0 bytes.
inline std::size_t requested_bytes(std::size_t bytes) { return bytes == 0 ? 1 : bytes; }
[[noreturn]] void fail_fixed_allocator(const std::string& device);
[[noreturn]] void fail_without_memory(const std::string& device, std::size_t bytes,
                                      std::size_t in_use);

}  // namespace sinter
