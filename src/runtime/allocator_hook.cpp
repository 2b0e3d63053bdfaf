// Errors of a caller's allocator are distinguished from those of Sinter's own pool.
#include "src/runtime/allocator_hook.h"

#include <cerrno>
#include <cstdint>
#include <utility>

#include "src/base/check.h"

namespace sinter {

AllocatorHook::AllocatorHook()
    : fork_listener_([this] { mutex_.lock(); }, [this](bool) { mutex_.unlock(); }) {}

void AllocatorHook::set(AllocatorPtr allocator) {
  const std::lock_guard lock(mutex_);
  allocator_.swap(allocator);  // the old one is destroyed after the lock is released
  is_set_.store(allocator_ != nullptr, std::memory_order_release);
}

AllocatorPtr AllocatorHook::current() const {
  const std::lock_guard lock(mutex_);
  return allocator_;
}

void* ask(const Allocator& allocator, const MemoryRequest& request, const std::string& device) {
  void* data = allocator.allocate(request.bytes, request.alignment, request.stream);
  if (reinterpret_cast<std::uintptr_t>(data) % request.alignment == 0) return data;
  give_back_to(allocator, data, request.bytes, request.stream);
  throw DeviceError(fmt::format("[{}] the allocator returned {} for {} bytes, which is not a "
                                "multiple of {} bytes as requested",
                                device, data, request.bytes, request.alignment),
                    "allocate", EINVAL);
}

void give_back_to(const Allocator& allocator, void* data, std::size_t bytes,
                  void* stream) noexcept {
  try {
    allocator.free(data, bytes, stream);
  } catch (...) {
    warn_once("an allocator's free() threw an exception, which is ignored");
  }
}

void fail_fixed_allocator(const std::string& device) {
  fail_user("set_allocator", "{} always uses its own memory", device);
}

void fail_without_memory(const std::string& device, std::size_t bytes, std::size_t in_use) {
  throw OutOfMemoryError(
      fmt::format("[{}] out of memory: the allocator has no {} bytes, {:.1f} GiB in use by tensors",
                  device, bytes, static_cast<double>(in_use) / (1 << 30)),
      "allocate", ENOMEM);
}

}  // namespace sinter
