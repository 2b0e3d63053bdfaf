// Which context is current is a property of the thread and shared with all other users of CUDA in
// the process: it is looked up each time and put back at the end.
// In: a driver. Out: a context that is alive and current; DeviceError.
#include "src/cuda/context.h"

namespace sinter {

CudaContext::CudaContext(const CudaDriver& driver) : driver_(driver) {
  driver_.ctx_get_current(&context_);
  if (context_) {
    driver_.ctx_get_device(&device_);
    hold_if_primary();
    return;
  }
  driver_.device_get(&device_, 0);
  driver_.primary_ctx_retain(&context_, device_);
  if (const CUresult code = driver_.ctx_set_current.code(context_)) {
    driver_.primary_ctx_release.code(device_);
    driver_.fail("cuCtxSetCurrent", code);
  }
  held_ = true;
  switched_ = true;
}

// Asks first whether there is a primary context: to retain it would make one, slow and large.
void CudaContext::hold_if_primary() {
  unsigned flags = 0;
  int active = 0;
  driver_.primary_ctx_get_state(device_, &flags, &active);
  if (!active) return;
  CUcontext primary = nullptr;
  driver_.primary_ctx_retain(&primary, device_);
  held_ = primary == context_;
  if (!held_) driver_.primary_ctx_release(device_);
}

void CudaContext::make_current() {
  CUcontext current = nullptr;
  driver_.ctx_get_current(&current);
  if (current == context_) return;
  driver_.ctx_set_current(context_);
  switched_ = true;
  previous_ = current;
}

bool CudaContext::try_make_current() noexcept {
  CUcontext current = nullptr;
  if (driver_.ctx_get_current.code(&current) != 0) return false;
  if (current == context_) return true;
  if (driver_.ctx_set_current.code(context_) != 0) return false;
  switched_ = true;
  previous_ = current;
  return true;
}

CudaContext::~CudaContext() {
  CUcontext current = nullptr;
  if (switched_ && driver_.ctx_get_current.code(&current) == 0 && current == context_)
    driver_.ctx_set_current.code(previous_);
  if (held_) driver_.primary_ctx_release.code(device_);
}

}  // namespace sinter
