// CudaStreams: which stream a thread's work goes to. The device has one of its own; a thread may
// lend it another one for a while (sinter/cuda.h).
// In: a GPU, streams of the caller's. Out: the calling thread's stream.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "src/cuda/primary_context.h"

namespace sinter {

class CudaStreams {
 public:
  explicit CudaStreams(PrimaryContextPtr primary);
  ~CudaStreams();
  CudaStreams(const CudaStreams&) = delete;
  CudaStreams& operator=(const CudaStreams&) = delete;

  // Ordered with the legacy default stream, as a stream made by cudaStreamCreate is: code that
  // knows no streams stays correct.
  CUstream own() const { return own_; }
  CUstream current() const noexcept;

  // What this thread gave to its stream before comes before what it gives to `stream` from now on.
  // Returns the stream that leave() goes back to.
  CUstream enter(CUstream stream);
  // What was given to the stream comes before what `previous` and own() get from now on: memory
  // last used on a stream that has been left is safe on own().
  void leave(CUstream previous) noexcept;

  // Whether some thread is between enter() and leave() with it; own() always is.
  bool is_open(CUstream stream) const;

  void synchronize() const;  // the thread's stream and own()

 private:
  void order(CUstream first, CUstream second) const;
  CUresult order_code(CUstream first, CUstream second) const noexcept;

  PrimaryContextPtr primary_;
  CUstream own_ = nullptr;
  mutable std::mutex mutex_;
  std::map<CUstream, int> open_;  // to how many threads
};

}  // namespace sinter
