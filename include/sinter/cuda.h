// Interoperating with other CUDA code: which stream Sinter's kernels run on. Needs no CUDA header.
// Throws DeviceError if there is no such GPU (docs/CUDA.md).
#pragma once

namespace sinter {

class CudaStreams;
struct CudaStreamUse;

// The stream (CUstream or cudaStream_t) this thread's GPU work runs on. By default each GPU has one
// that Sinter creates, which synchronizes with the legacy default stream.
void* cuda_stream(int device = 0);

// Redirects this thread's GPU work to the caller's stream for the lifetime of the scope. The stream
// must belong to the device's primary context (all CUDA runtime streams do); null is the legacy
// default stream. The host never waits: work is ordered on the device on entry and on exit. Scopes
// may end in any order; the innermost live scope applies.
class CudaStreamScope {
 public:
  explicit CudaStreamScope(void* stream, int device = 0);
  ~CudaStreamScope();  // does not throw
  CudaStreamScope(const CudaStreamScope&) = delete;
  CudaStreamScope& operator=(const CudaStreamScope&) = delete;

 private:
  CudaStreams& streams_;
  CudaStreamUse* use_;
};

}  // namespace sinter
