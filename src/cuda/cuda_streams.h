// CudaStreams: which stream a thread's work goes to. The device has one of its own; a thread may
// lend it another one for a while (sinter/cuda.h).
// In: a GPU, streams of the caller's. Out: the calling thread's stream.
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

  // Ordered with the legacy default stream, as a stream made by cudaStreamCreate is: code that
  // knows no streams stays correct.
  CUstream own() const { return own_; }
  CUstream current() const noexcept;

  // What this thread gave to its stream before comes before what it gives to `stream` from now on.
  // To be left once, while this is alive.
  CudaStreamUse* enter(CUstream stream);
  // What was given to the stream comes before what own() and the thread's stream get from now on:
  // memory last used on a stream that has been left is safe on own(). The thread's stream is the
  // one entered last that has not been left, whatever the order of leaving. Another thread may
  // leave for the one that entered, which must not be launching meanwhile.
  void leave(CudaStreamUse* use) noexcept;

  // Whether some thread is between enter() and leave() with it; own() always is.
  bool is_open(CUstream stream) const;
  // Records the event behind all that `stream` has been given: on it, or on own() if it has been
  // left, as its owner may have destroyed it. Nobody can leave it during the call.
  CUresult record(CUevent event, CUstream stream) const noexcept;

  void synchronize() const;  // the thread's stream and own()

 private:
  bool is_open_locked(CUstream stream) const { return stream == own_ || open_.contains(stream); }
  void order(CUstream first, CUstream second) const;
  CUresult order_code(CUstream first, CUstream second) const noexcept;

  CudaContextPtr primary_;
  CUstream own_ = nullptr;
  mutable std::mutex mutex_;
  std::map<CUstream, int> open_;  // how many uses
  ForkListener fork_listener_;
};

}  // namespace sinter
