// The current context belongs to the thread and is shared with all other CUDA code in the process.
// Entering costs one driver call if the context is already current. In: a driver. Out: a live
// context; a thread's current context; DeviceError.
#include "src/cuda/context.h"

#include "src/base/check.h"

namespace sinter {

CudaContextPtr CudaContext::primary(const CudaDriver& driver, int ordinal) {
  int count = 0;
  driver.device_get_count(&count);
  if (ordinal < 0 || ordinal >= count)
    throw DeviceError(fmt::format("there is no GPU {}: the driver finds {}, counted from 0; check "
                                  "CUDA_VISIBLE_DEVICES",
                                  ordinal, count),
                      "cuDeviceGet", kCudaNoDevice);
  const std::shared_ptr<CudaContext> context(new CudaContext(driver));
  context->describe(ordinal);
  context->hold();
  context->may_stay_ = ordinal == 0;
  return context;
}

CudaContextPtr CudaContext::current(const CudaDriver& driver) {
  const std::shared_ptr<CudaContext> context(new CudaContext(driver));
  driver.ctx_get_current(&context->handle_);
  if (!context->handle_) {
    context->describe(0);
    context->hold();
    return context;
  }
  CUdevice current = 0;
  driver.ctx_get_device(&current);
  int count = 0;
  driver.device_get_count(&count);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    driver.device_get(&device, ordinal);
    if (device == current) context->describe(ordinal);
  }
  context->hold_if_primary();
  return context;
}

CudaContext::~CudaContext() {
  if (held_) driver_.primary_ctx_release.code(device_);
}

void CudaContext::describe(int ordinal) {
  ordinal_ = ordinal;
  driver_.device_get(&device_, ordinal);
  description_ = cuda_device(driver_, ordinal);
}

void CudaContext::hold() {
  driver_.primary_ctx_retain(&handle_, device_);
  held_ = true;
}

// Checks for an active primary context first: retaining would create one, which is slow and large.
void CudaContext::hold_if_primary() {
  unsigned flags = 0;
  int active = 0;
  driver_.primary_ctx_get_state(device_, &flags, &active);
  if (!active) return;
  CUcontext primary = nullptr;
  driver_.primary_ctx_retain(&primary, device_);
  held_ = primary == handle_;
  if (!held_) driver_.primary_ctx_release(device_);
}

ContextScope::ContextScope(const CudaContext& context) : context_(context) {
  const char* call = nullptr;
  if (const CUresult code = enter(call)) context_.driver().fail(call, code);
}

ContextScope::ContextScope(const CudaContext& context, CUresult& code) noexcept
    : context_(context) {
  const char* call = nullptr;
  code = enter(call);
}

CUresult ContextScope::enter(const char*& call) noexcept {
  const CudaDriver& driver = context_.driver();
  call = "cuCtxGetCurrent";
  if (const CUresult code = driver.ctx_get_current.code(&previous_)) return code;
  if (previous_ == context_.handle()) return 0;
  call = "cuCtxSetCurrent";
  if (const CUresult code = driver.ctx_set_current.code(context_.handle())) return code;
  restore_ = previous_ != nullptr || !context_.may_stay();
  return 0;
}

ContextScope::~ContextScope() {
  if (restore_) context_.driver().ctx_set_current.code(previous_);
}

}  // namespace sinter
