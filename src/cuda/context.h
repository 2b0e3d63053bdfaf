// CudaContext: a CUDA context, held while our objects live in it. In: a driver, and a GPU's ordinal
// or the context the caller made current. Out: the thread's current context, for the lifetime of a
// ContextScope.
#pragma once

#include <memory>

#include "src/cuda/driver.h"

namespace sinter {

class CudaContext;
using CudaContextPtr = std::shared_ptr<const CudaContext>;

// Held by everything that lives on the GPU: memory, kernels, streams.
class CudaContext {
 public:
  // The primary context, shared by all users of a GPU in the process. DeviceError if there is no
  // such GPU.
  static CudaContextPtr primary(const CudaDriver& driver, int ordinal);
  // The thread's current context, or the first GPU's primary one if there is none. A primary
  // context is retained here. One made by cuCtxCreate has no reference count: its owner must keep
  // it alive.
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
  // Whether it may stay current on a thread that had none: it is the one the CUDA runtime would
  // choose.
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

// Makes the context current on this thread and restores the previous one (other code's) at the end.
// If there was none, a context that may stay does. Queries the driver each time, since other code
// may have switched contexts.
class ContextScope {
 public:
  explicit ContextScope(const CudaContext& context);  // DeviceError
  // For destructors: reports failure through `code`.
  ContextScope(const CudaContext& context, CUresult& code) noexcept;
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  // Also returns the name of the call that failed.
  CUresult enter(const char*& call) noexcept;

  const CudaContext& context_;
  CUcontext previous_ = nullptr;
  bool restore_ = false;
};

}  // namespace sinter
