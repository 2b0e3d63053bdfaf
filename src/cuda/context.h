// CudaContext: the context in which somebody of ours works, alive for as long as they are.
// In: the context that is current. Out: it, or the first device's primary context if there is none.
#pragma once

#include "src/cuda/driver.h"

namespace sinter {

// Holds on to a primary context, so that it outlives whoever made it current. A context made by
// cuCtxCreate has no count of its users: it has to be kept by its owner.
class CudaContext {
 public:
  explicit CudaContext(const CudaDriver& driver);
  ~CudaContext();  // makes the context current again that was before
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const CudaDriver& driver() const { return driver_; }
  CUdevice device() const { return device_; }

  // Contexts are current for a thread: called at the start of all that uses one.
  void make_current();
  bool try_make_current() noexcept;

 private:
  void hold_if_primary();

  const CudaDriver& driver_;
  CUcontext context_ = nullptr;
  CUdevice device_ = 0;
  bool held_ = false;
  bool switched_ = false;
  CUcontext previous_ = nullptr;  // when last switched
};

}  // namespace sinter
