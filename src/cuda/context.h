// CudaContext: a context that somebody of ours works in, held for as long as they do.
// In: a driver, and a GPU's ordinal or what the caller has made current. Out: what is current on a
// thread, for as long as a ContextScope.
#pragma once

#include <memory>

#include "src/cuda/driver.h"

namespace sinter {

class CudaContext;
using CudaContextPtr = std::shared_ptr<const CudaContext>;

// Held by everything that lives on the GPU: memory, kernels, streams.
class CudaContext {
 public:
  // The one that all users of a GPU in the process share. DeviceError where there is no such GPU.
  static CudaContextPtr primary(const CudaDriver& driver, int ordinal);
  // The one that is current on this thread; the first GPU's primary one if there is none. A primary
  // one outlives whoever made it current. One made by cuCtxCreate has no count of its users: it has
  // to be kept by its owner.
  static CudaContextPtr current(const CudaDriver& driver);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const CudaDriver& driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  CUdevice device() const { return device_; }
  CUcontext handle() const { return handle_; }
  const CudaDeviceDescription& description() const { return description_; }
  int compute() const { return description_.compute_major * 10 + description_.compute_minor; }
  // Whether it may stay where no context was: what the CUDA runtime would choose too.
  bool may_stay() const { return may_stay_; }

 private:
  explicit CudaContext(const CudaDriver& driver) : driver_(driver) {}
  void describe(int ordinal);
  void hold();
  void hold_if_primary();

  const CudaDriver& driver_;
  int ordinal_ = 0;
  CUdevice device_ = 0;
  CUcontext handle_ = nullptr;
  bool held_ = false;
  bool may_stay_ = false;
  CudaDeviceDescription description_;
};

// Makes the context current on this thread. What was current before, other code's context, is
// current again at the end; where there was none, one that may stay does.
// The driver is asked each time: other code may have changed the context since.
class ContextScope {
 public:
  explicit ContextScope(const CudaContext& context);  // DeviceError
  // For destructors: says whether it worked.
  ContextScope(const CudaContext& context, CUresult& code) noexcept;
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  // Tells the call that failed, too.
  CUresult enter(const char*& call) noexcept;

  const CudaContext& context_;
  CUcontext previous_ = nullptr;
  bool restore_ = false;
};

}  // namespace sinter
