// Working beside other CUDA code: which stream Sinter's kernels go to. Needs no CUDA header.
// DeviceError where there is no such GPU (docs/CUDA.md).
#pragma once

namespace sinter {

class CudaStreams;
struct CudaStreamUse;

// The stream (a CUstream, a cudaStream_t) that this thread's work on the GPU goes to. Sinter has
// one of its own for each GPU, which is ordered with the legacy default stream.
void* cuda_stream(int device = 0);

// For its lifetime this thread's work on the GPU goes to the caller's stream, which belongs to the
// device's primary context (as all streams of the CUDA runtime do); null is the legacy default
// stream. Nothing waits on the host: what the thread gave to its stream before comes before what is
// given to this one, and that before what comes after the scope. Scopes may end in any order: work
// goes to the stream of the last one that has not.
class CudaStreamScope {
 public:
  explicit CudaStreamScope(void* stream, int device = 0);
  ~CudaStreamScope();  // throws nothing
  CudaStreamScope(const CudaStreamScope&) = delete;
  CudaStreamScope& operator=(const CudaStreamScope&) = delete;

 private:
  CudaStreams& streams_;
  CudaStreamUse* use_;
};

}  // namespace sinter
