// Per-thread scratch memory for kernels: one 64-byte aligned arena that only grows.
#pragma once

#include <cstddef>

namespace sinter {

// Borrows this thread's arena. If it is already borrowed (a kernel inside a kernel), the lease
// allocates its own memory.
class ScratchLease {
 public:
  explicit ScratchLease(std::size_t bytes);  // 0 is free; DeviceError if memory runs out
  ~ScratchLease();
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;

  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
  bool from_arena_ = false;
};

}  // namespace sinter
