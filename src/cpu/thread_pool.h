// Spreads the programs of a kernel over worker threads. The calling thread is one of the workers; a
// call that finds the pool busy (another thread's kernel, a nested call) runs on its caller alone.
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

// Runs first <= id < last. `scratch` belongs to the thread that runs it.
using RangeFunction = void (*)(const void* context, std::int64_t first, std::int64_t last,
                               char* scratch);

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // the caller included; started at the first parallel call
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Covers [0, count) in contiguous pieces. The first exception of a piece goes to the caller, when
  // no piece is running any more. No allocation once warm.
  void parallel_for(std::int64_t count, std::size_t scratch_bytes, RangeFunction function,
                    const void* context);

  // The same on this thread alone, in one piece.
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
  // What the workers do now. Written while nobody has joined, read by those who have.
  struct Job {
    RangeFunction function = nullptr;
    const void* context = nullptr;
    std::int64_t count = 0;
    std::int64_t piece = 0;
    std::size_t scratch_bytes = 0;
    std::exception_ptr error;
  };
  // All that threads share. A forked child leaves it behind and makes a new one.
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
