// Distributes a kernel's programs over worker threads. The calling thread is one of the workers; if
// the pool is busy (another thread's kernel, a nested call), the call runs on its caller alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "src/runtime/fork_listener.h"

namespace sinter {

// Runs first <= id < last. `scratch` belongs to the running thread.
using RangeFunction = void (*)(const void* context, std::int64_t first, std::int64_t last,
                               char* scratch);

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // including the caller; started at the first parallel call
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Covers [0, count) in contiguous chunks. Rethrows the first exception once no chunk is running.
  // Does not allocate once warm.
  void parallel_for(std::int64_t count, std::size_t scratch_bytes, RangeFunction function,
                    const void* context);

  // The same on the calling thread, in one chunk.
  static void run_here(std::int64_t count, std::size_t scratch_bytes, RangeFunction function,
                       const void* context);

  template <typename Body>  // body(first, last, scratch)
  void parallel_for(std::int64_t count, std::size_t scratch_bytes, const Body& body) {
    parallel_for(
        count, scratch_bytes,
        [](const void* context, std::int64_t first, std::int64_t last, char* scratch) {
          (*static_cast<const Body*>(context))(first, last, scratch);
        },
        &body);
  }

 private:
  // The current job. Written while no worker is inside, read by those that are.
  struct Job {
    RangeFunction function = nullptr;
    const void* context = nullptr;
    std::int64_t count = 0;
    std::int64_t piece = 0;
    std::size_t scratch_bytes = 0;
    std::exception_ptr error;
  };
  // All shared state. A forked child abandons it and creates a new one.
  struct Crew;

  static void work(Crew& crew);
  static void run_pieces(Crew& crew);
  static void wake_sleepers(Crew& crew, std::int64_t wanted);
  void start_workers();
  void dispatch(Crew& crew);

  const int threads_;
  std::atomic<bool> busy_{false};
  std::unique_ptr<Crew> crew_;
  ForkListener fork_listener_;
};

}  // namespace sinter
