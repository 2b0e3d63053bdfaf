// Scratch memory for kernels: each thread keeps one 64-byte aligned arena that only grows.
#pragma once

#include <cstddef>

namespace sinter {

// Borrows this thread's arena. While it is borrowed (a kernel inside a kernel), another lease gets
// memory of its own.
class ScratchLease {
 public:
  explicit ScratchLease(std::size_t bytes);  // 0 is free; DeviceError where there is no memory
  ~ScratchLease();
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;

  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
  bool from_arena_ = false;
};

}  // namespace sinter
