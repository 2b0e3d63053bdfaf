// The CUDA driver, loaded at run time: building Sinter needs no CUDA toolkit, running it no GPU.
// In: libcuda.so.1, if installed. Out: its functions, which throw DeviceError instead of returning
// a code; or why they cannot be used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/cuda/driver_types.h"

namespace sinter {

inline constexpr int kCudaNeededVersion = 12000;  // CUDA 12.0 in cuDriverGetVersion's encoding
inline constexpr char kCudaLibrary[] = "libcuda.so.1";

std::string cuda_version_text(int version);  // 12040 -> "12.4"

class CudaDriver;

template <typename Signature>
class CudaCall;

// One driver function.
template <typename... Args>
class CudaCall<CUresult(Args...)> {
 public:
  void operator()(Args... args) const;  // DeviceError; OutOfMemoryError
  // For destructors and callers that expect failure.
  CUresult code(Args... args) const noexcept { return function_(args...); }

 private:
  friend class CudaDriver;
  CUresult (*function_)(Args...) = nullptr;
  const CudaDriver* driver_ = nullptr;
  const char* name_ = nullptr;
};

class CudaDriver {
 public:
  // DeviceError if the library is missing, is not a driver of CUDA 12.0 or newer, does not
  // initialize, or finds no device. The library stays loaded until the process exits.
  static std::unique_ptr<const CudaDriver> load(const std::string& path);

  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  int version() const { return version_; }  // 12040 is CUDA 12.4

  // "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
  std::string error_text(CUresult code) const;
  [[noreturn]] void fail(const char* call, CUresult code) const;

#define SINTER_CUDA_CALL(member, name, symbol, ...) CudaCall<CUresult(__VA_ARGS__)> member;
#include "src/cuda/driver.def"
#undef SINTER_CUDA_CALL

 private:
  explicit CudaDriver(const std::string& path);
  void start() const;
  void* find(const char* name, const char* symbol) const;
  template <typename... Args>
  void bind(CudaCall<CUresult(Args...)>& call, const char* name, const char* symbol);

  std::string path_;
  void* library_ = nullptr;
  CUresult (*get_proc_address_)(const char* name, void** function, int version, std::uint64_t flags,
                                int* status) = nullptr;
  int version_ = 0;
};

template <typename... Args>
void CudaCall<CUresult(Args...)>::operator()(Args... args) const {
  if (const CUresult code = function_(args...)) driver_->fail(name_, code);
}

// This machine's driver, loaded on first use. The outcome is remembered, including a failure.
const CudaDriver& cuda_driver();  // DeviceError
std::string why_no_cuda();        // the error's message; empty if there is a driver

struct CudaDeviceDescription {
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  int sm_count = 0;
  // Per SM.
  int threads_per_sm = 0;
  int blocks_per_sm = 0;
  int registers_per_sm = 0;
  int shared_bytes_per_sm = 0;
};

CudaDeviceDescription cuda_device(const CudaDriver& driver, int ordinal);
std::vector<CudaDeviceDescription> cuda_devices(const CudaDriver& driver = cuda_driver());

}  // namespace sinter
