// Allocator: lets Sinter take a device's memory from another library's pool, so that both share
// one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace sinter {

// Both functions may be called from any thread, several at a time, and must not call Sinter. Sinter
// keeps no free memory of its own from them: it calls `free` as soon as nothing uses the memory.
//
// Streams order work on a GPU (CUstream or cudaStream_t; null for "cpu" and "simt"). Memory from
// `allocate` is used by work that Sinter submits to `stream` from then on. When `free` is called,
// kernels that use the memory may still be running, but all of them come before what is submitted
// to the stream given to `free` afterwards: Sinter has made it wait for any other stream. So the
// memory can be reused on that stream at once, and elsewhere after an event recorded on it or after
// the stream is synchronized. It is the stream given to `allocate`, or Sinter's own (cuda_stream())
// if the CudaStreamScope of that one has ended. The GPU's primary context is current in both
// functions.
struct Allocator {
  // At least `bytes` bytes (more than 0) at a multiple of `alignment`; null if out of memory, which
  // becomes an OutOfMemoryError. An exception propagates to the caller of the operation.
  std::function<void*(std::size_t bytes, std::size_t alignment, void* stream)> allocate;
  // Frees what `allocate` returned; `bytes` is the size passed to it. Must not throw.
  std::function<void(void* data, std::size_t bytes, void* stream)> free;
};

// From now on, memory of the device for tensors, results and intermediates comes from `allocator`.
// Memory allocated earlier is freed by its own allocator, so the functions must stay callable until
// the last tensor that uses their memory is gone. device_memory() counts this memory in in_use and
// peak. UserError if a function is missing.
void set_allocator(const std::string& device, Allocator allocator);
// Restores Sinter's own pool.
void reset_allocator(const std::string& device);

}  // namespace sinter
