// CudaStreams: the stream a thread's work runs on. The device owns one; a thread may use another
// for a while (sinter/cuda.h). In: a GPU, the caller's streams. Out: the calling thread's stream.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "src/cuda/context.h"
#include "src/runtime/fork_listener.h"

namespace sinter {

struct CudaStreamUse;  // from enter() to leave()

class CudaStreams {
 public:
  explicit CudaStreams(CudaContextPtr primary);
  ~CudaStreams();
  CudaStreams(const CudaStreams&) = delete;
  CudaStreams& operator=(const CudaStreams&) = delete;

  // Synchronizes with the legacy default stream, like one made by cudaStreamCreate, so that code
  // that ignores streams stays correct.
  CUstream own() const { return own_; }
  CUstream current() const noexcept;

  // Orders this thread's earlier work before what it submits to `stream` from now on. Each use must
  // be left exactly once, while this object is alive.
  CudaStreamUse* enter(CUstream stream);
  // Orders the stream's work before what own() and the thread's stream get from now on, so memory
  // last used on a stream that has been left is safe to use on own(). The thread's stream is then
  // the last one entered and not yet left, whatever the order. Another thread may call it, while
  // the entering thread is not launching.
  void leave(CudaStreamUse* use) noexcept;

  // Whether some thread is between enter() and leave() with it; always true for own().
  bool is_open(CUstream stream) const;
  // Records the event after all work of `stream`: on it, or on own() if it has been left, because
  // its owner may have destroyed it. Blocks leave() for the duration.
  CUresult record(CUevent event, CUstream stream) const noexcept;

  // Calls `use` with `stream`, or own() if it has been left. Blocks leave() for the duration; `use`
  // must not call this object.
  template <typename F>
  void with_stream(CUstream stream, F&& use) const {
    const std::lock_guard lock(mutex_);
    use(is_open_locked(stream) ? stream : own_);
  }

  void synchronize() const;  // waits for the thread's stream and own()

 private:
  bool is_open_locked(CUstream stream) const { return stream == own_ || open_.contains(stream); }
  void order(CUstream first, CUstream second) const;
  CUresult order_code(CUstream first, CUstream second) const noexcept;

  CudaContextPtr primary_;
  CUstream own_ = nullptr;
  mutable std::mutex mutex_;
  std::map<CUstream, int> open_;  // number of uses
  ForkListener fork_listener_;
};

}  // namespace sinter
