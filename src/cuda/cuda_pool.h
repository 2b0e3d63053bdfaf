// The CUDA device's caching memory pool. Freed memory is reused in stream order, so no one waits
// and a warm call makes no driver allocations. Thread-safe. In: sizes. Out: Storage;
// OutOfMemoryError.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "src/cuda/cuda_streams.h"
#include "src/runtime/device.h"
#include "src/runtime/fork_listener.h"

namespace sinter {

class CudaStorage;

// Block size for a request: rounded up to 512 bytes below 1 MiB, to 2 MiB from there on.
std::size_t cuda_block_bytes(std::size_t bytes);

class CudaPool : public std::enable_shared_from_this<CudaPool> {
 public:
  static std::shared_ptr<CudaPool> create(CudaContextPtr primary,
                                          std::shared_ptr<CudaStreams> streams);
  ~CudaPool();
  CudaPool(const CudaPool&) = delete;
  CudaPool& operator=(const CudaPool&) = delete;

  // For work on the calling thread's stream. The storage keeps the pool alive.
  StoragePtr allocate(std::size_t bytes);
  void set_allocator(AllocatorPtr allocator) { hook_.set(std::move(allocator)); }

  MemoryStats stats() const;  // counted in block bytes; in bytes from a caller's allocator
  void reset_peak();
  void release_cached();          // returns free blocks to the driver; waits for the GPU
  std::size_t available() const;  // free device memory plus cached blocks

 private:
  friend class CudaStorage;

  // Can be reused on `stream` at once; other streams wait for the events.
  struct FreeBlock {
    CUdeviceptr address = 0;
    CUstream stream = nullptr;
    std::vector<CUevent> events;  // recorded on the other streams that used it when it was freed
  };
  struct SizeList {
    std::vector<FreeBlock> free;
    std::size_t owned = 0;  // free or in use; `free` has capacity for all
  };
  struct Taken {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;  // 0: none found
  };

  CudaPool(CudaContextPtr primary, std::shared_ptr<CudaStreams> streams);
  Taken take_cached(std::size_t bytes, CUstream stream);
  Taken take_from(SizeList& list, std::size_t bytes, std::size_t index, CUstream stream);
  Taken take_new(std::size_t bytes, std::size_t requested);
  StoragePtr allocate_from(const AllocatorPtr& allocator, std::size_t bytes, CUstream stream);
  void wait_for(FreeBlock& block, CUstream stream);
  void give_back(CudaStorage& storage) noexcept;
  void give_to_allocator(CudaStorage& storage) noexcept;
  void record_others(FreeBlock& block, const std::vector<CUstream>& others) noexcept;
  void free_all_cached() noexcept;
  void count_use(std::size_t bytes);
  bool keeps_too_much(std::size_t more) const;

  CudaContextPtr primary_;
  std::shared_ptr<CudaStreams> streams_;
  AllocatorHook hook_;
  mutable std::mutex mutex_;
  std::map<std::size_t, SizeList> lists_;  // by block size
  std::atomic<std::size_t> in_use_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::size_t> outside_{0};  // the part of in_use_ from a caller's allocator
  std::atomic<std::size_t> owned_{0};
  std::atomic<std::size_t> most_in_use_{0};  // high-water mark
  ForkListener fork_listener_;
};

}  // namespace sinter
