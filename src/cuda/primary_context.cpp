// Entering costs one call of the driver where the context is current already.
// In: a PrimaryContext. Out: the thread's current context.
#include "src/cuda/primary_context.h"

#include "src/base/check.h"

namespace sinter {

std::shared_ptr<const PrimaryContext> PrimaryContext::retain(const CudaDriver& driver,
                                                             int ordinal) {
  return std::shared_ptr<const PrimaryContext>(new PrimaryContext(driver, ordinal));
}

PrimaryContext::PrimaryContext(const CudaDriver& driver, int ordinal)
    : driver_(driver), ordinal_(ordinal) {
  int count = 0;
  driver_.device_get_count(&count);
  if (ordinal < 0 || ordinal >= count)
    throw DeviceError(fmt::format("there is no GPU {}: the driver finds {}, counted from 0; check "
                                  "CUDA_VISIBLE_DEVICES",
                                  ordinal, count),
                      "cuDeviceGet", kCudaNoDevice);
  driver_.device_get(&device_, ordinal);
  description_ = cuda_device(driver_, ordinal);
  driver_.primary_ctx_retain(&context_, device_);
}

PrimaryContext::~PrimaryContext() { driver_.primary_ctx_release.code(device_); }

ContextScope::ContextScope(const PrimaryContext& primary) : primary_(primary) {
  if (const CUresult code = enter()) primary_.driver().fail("cuCtxSetCurrent", code);
}

ContextScope::ContextScope(const PrimaryContext& primary, CUresult& code) noexcept
    : primary_(primary) {
  code = enter();
}

CUresult ContextScope::enter() noexcept {
  const CudaDriver& driver = primary_.driver();
  if (const CUresult code = driver.ctx_get_current.code(&previous_)) return code;
  if (previous_ == primary_.context()) return 0;
  if (const CUresult code = driver.ctx_set_current.code(primary_.context())) return code;
  restore_ = previous_ != nullptr || primary_.ordinal() != 0;
  return 0;
}

ContextScope::~ContextScope() {
  if (restore_) primary_.driver().ctx_set_current.code(previous_);
}

}  // namespace sinter
