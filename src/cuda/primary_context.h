// PrimaryContext: one GPU and the context that all of its users in the process share.
// In: a driver and a device's ordinal. Out: what is current on a thread, for as long as a scope.
#pragma once

#include <memory>

#include "src/cuda/driver.h"

namespace sinter {

// Held by everything that lives on the GPU: memory, kernels, streams.
class PrimaryContext {
 public:
  // DeviceError where there is no such GPU.
  static std::shared_ptr<const PrimaryContext> retain(const CudaDriver& driver, int ordinal);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;

  const CudaDriver& driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  CUdevice device() const { return device_; }
  CUcontext context() const { return context_; }
  const CudaDeviceDescription& description() const { return description_; }
  int compute() const { return description_.compute_major * 10 + description_.compute_minor; }

 private:
  PrimaryContext(const CudaDriver& driver, int ordinal);

  const CudaDriver& driver_;
  const int ordinal_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CudaDeviceDescription description_;
};

using PrimaryContextPtr = std::shared_ptr<const PrimaryContext>;

// Makes the context current on this thread. What was current before, other code's context, is
// current again at the end; where there was none, the first GPU's stays, which is what the CUDA
// runtime would choose too.
// The driver is asked each time: other code may have changed the context since.
class ContextScope {
 public:
  explicit ContextScope(const PrimaryContext& primary);  // DeviceError
  // For destructors: says whether it worked.
  ContextScope(const PrimaryContext& primary, CUresult& code) noexcept;
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  CUresult enter() noexcept;

  const PrimaryContext& primary_;
  CUcontext previous_ = nullptr;
  bool restore_ = false;
};

}  // namespace sinter
