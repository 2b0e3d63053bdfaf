// The CUDA device's memory: a caching pool. What a tensor gives back is there for the next one, in
// the order of the stream it was used on, so that nobody waits and a warm call asks the driver for
// nothing. Safe from many threads.
// In: sizes. Out: Storage; OutOfMemoryError.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "src/cuda/cuda_streams.h"
#include "src/runtime/device.h"
#include "src/runtime/fork_listener.h"

namespace sinter {

class CudaStorage;

// What is taken for a request: a multiple of 512 bytes below 1 MiB, of 2 MiB from there on.
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

  MemoryStats stats() const;  // in bytes of the blocks
  void reset_peak();
  void release_cached();          // back to the driver; waits for the GPU
  std::size_t available() const;  // what the driver has free, and what is cached here

 private:
  friend class CudaStorage;

  // Free for `stream` at once, but for what the events say.
  struct FreeBlock {
    CUdeviceptr address = 0;
    CUstream stream = nullptr;
    std::vector<CUevent> events;  // of other streams that used it, at the time it was given back
  };
  struct SizeList {
    std::vector<FreeBlock> free;
    std::size_t owned = 0;  // free or in use; `free` has room for all of them
  };
  struct Taken {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;  // 0: there was none
  };

  CudaPool(CudaContextPtr primary, std::shared_ptr<CudaStreams> streams);
  Taken take_cached(std::size_t bytes, CUstream stream);
  Taken take_from(SizeList& list, std::size_t bytes, std::size_t index, CUstream stream);
  Taken take_new(std::size_t bytes, std::size_t requested);
  void wait_for(FreeBlock& block, CUstream stream);
  void give_back(CudaStorage& storage) noexcept;
  void record_others(FreeBlock& block, const std::vector<CUstream>& others) noexcept;
  void free_all_cached() noexcept;
  void count_use(std::size_t bytes);
  bool keeps_too_much(std::size_t more) const;

  CudaContextPtr primary_;
  std::shared_ptr<CudaStreams> streams_;
  mutable std::mutex mutex_;
  std::map<std::size_t, SizeList> lists_;  // by the blocks' size
  std::atomic<std::size_t> in_use_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::size_t> owned_{0};
  std::atomic<std::size_t> most_in_use_{0};  // ever
  ForkListener fork_listener_;
};

}  // namespace sinter
