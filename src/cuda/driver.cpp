// Loads the driver in the order library, version, functions, initialization, so that the first
// problem is the one reported. In: a library's path. Out: a CudaDriver, or a DeviceError with
// advice.
#include "src/cuda/driver.h"

#include <dlfcn.h>

#include <array>

#include "src/base/check.h"

namespace sinter {
namespace {

// A null stream is the legacy default stream, which other streams synchronize with.
constexpr std::uint64_t kLegacyStream = 1;

void* open_library(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library) return library;
  const char* reason = dlerror();
  throw DeviceError(
      fmt::format("no NVIDIA driver was found ({}): install the driver, or start the container "
                  "with access to the GPUs",
                  reason ? reason : path),
      "dlopen", 0);
}

// Checked first: an old driver also lacks functions, but its age is what should be reported.
int version_of(void* library, const std::string& path) {
  constexpr char kCall[] = "cuDriverGetVersion";
  auto* get_version = reinterpret_cast<CUresult (*)(int*)>(dlsym(library, kCall));
  if (!get_version)
    throw DeviceError(fmt::format("{} is not an NVIDIA driver: it has no {}", path, kCall), kCall,
                      0);
  int version = 0;
  if (const CUresult code = get_version(&version))
    throw DeviceError(fmt::format("{} does not say its version: {} failed with code {}; is it the "
                                  "CUDA toolkit's stub instead of the driver?",
                                  path, kCall, code),
                      kCall, code);
  if (version < kCudaNeededVersion)
    throw DeviceError(
        fmt::format("the NVIDIA driver is for CUDA {}, and CUDA {} or newer is "
                    "needed: update the driver",
                    cuda_version_text(version), cuda_version_text(kCudaNeededVersion)),
        kCall, 0);
  return version;
}

}  // namespace

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::unique_ptr<const CudaDriver> CudaDriver::load(const std::string& path) {
  std::unique_ptr<const CudaDriver> driver(new CudaDriver(path));
  driver->start();
  return driver;
}

CudaDriver::CudaDriver(const std::string& path)
    : path_(path), library_(open_library(path)), version_(version_of(library_, path)) {
  get_proc_address_ =
      reinterpret_cast<decltype(get_proc_address_)>(dlsym(library_, "cuGetProcAddress_v2"));
#define SINTER_CUDA_CALL(member, name, symbol, ...) bind(member, #name, #symbol);
#include "src/cuda/driver.def"
#undef SINTER_CUDA_CALL
}

void CudaDriver::start() const {
  if (const CUresult code = init.code(0))
    throw DeviceError(
        fmt::format("the NVIDIA driver does not start: cuInit gives {}; check {}", error_text(code),
                    code == kCudaNoDevice
                        ? "that nvidia-smi lists a GPU and CUDA_VISIBLE_DEVICES does not hide it"
                        : "that nvidia-smi works"),
        "cuInit", code);
  int count = 0;
  device_get_count(&count);
  if (count < 1)
    throw DeviceError(
        "the NVIDIA driver finds no GPU: check that CUDA_VISIBLE_DEVICES does not hide it",
        "cuDeviceGetCount", kCudaNoDevice);
}

// The requested version selects the signatures in driver.def.
void* CudaDriver::find(const char* name, const char* symbol) const {
  if (!get_proc_address_) return dlsym(library_, symbol);
  void* function = nullptr;
  int status = 0;
  const CUresult code =
      get_proc_address_(name, &function, kCudaNeededVersion, kLegacyStream, &status);
  return code == 0 && status == 0 ? function : nullptr;
}

template <typename... Args>
void CudaDriver::bind(CudaCall<CUresult(Args...)>& call, const char* name, const char* symbol) {
  call.function_ = reinterpret_cast<CUresult (*)(Args...)>(find(name, symbol));
  if (!call.function_)
    throw DeviceError(fmt::format("the NVIDIA driver ({}, CUDA {}) has no {}: reinstall the driver",
                                  path_, cuda_version_text(version_), name),
                      name, 0);
  call.driver_ = this;
  call.name_ = name;
}

std::string CudaDriver::error_text(CUresult code) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (get_error_name.code(code, &name) != 0 || !name) return fmt::format("unknown error {}", code);
  if (get_error_string.code(code, &text) != 0 || !text) return fmt::format("{} ({})", name, code);
  return fmt::format("{} ({}): {}", name, code, text);
}

void CudaDriver::fail(const char* call, CUresult code) const {
  const std::string message = fmt::format("[{}] {}", call, error_text(code));
  if (code == kCudaOutOfMemory) throw OutOfMemoryError(message, call, code);
  throw DeviceError(message, call, code);
}

namespace {

struct LoadResult {
  std::unique_ptr<const CudaDriver> driver;
  DeviceError error{"", "", 0};
};

LoadResult load_this_machines() {
  try {
    return {CudaDriver::load(kCudaLibrary), DeviceError("", "", 0)};
  } catch (const DeviceError& error) {
    return {nullptr, error};
  }
}

// Never destroyed: objects freed at exit may still need the driver.
const LoadResult& this_machines() {
  static const auto* result = new LoadResult(load_this_machines());
  return *result;
}

int attribute(const CudaDriver& driver, int which, CUdevice device) {
  int value = 0;
  driver.device_get_attribute(&value, which, device);
  return value;
}

}  // namespace

const CudaDriver& cuda_driver() {
  const LoadResult& result = this_machines();
  if (!result.driver) throw DeviceError(result.error);
  return *result.driver;
}

std::string why_no_cuda() {
  const LoadResult& result = this_machines();
  return result.driver ? "" : result.error.what();
}

CudaDeviceDescription cuda_device(const CudaDriver& driver, int ordinal) {
  CUdevice device = 0;
  driver.device_get(&device, ordinal);
  std::array<char, 256> name{};
  driver.device_get_name(name.data(), static_cast<int>(name.size()), device);
  CudaDeviceDescription description;
  description.name = name.data();
  description.compute_major = attribute(driver, kCudaAttributeComputeMajor, device);
  description.compute_minor = attribute(driver, kCudaAttributeComputeMinor, device);
  driver.device_total_mem(&description.memory_bytes, device);
  description.l2_bytes = static_cast<std::size_t>(attribute(driver, kCudaAttributeL2Bytes, device));
  description.sm_count = attribute(driver, kCudaAttributeSmCount, device);
  description.threads_per_sm = attribute(driver, kCudaAttributeThreadsPerSm, device);
  description.blocks_per_sm = attribute(driver, kCudaAttributeBlocksPerSm, device);
  description.registers_per_sm = attribute(driver, kCudaAttributeRegistersPerSm, device);
  description.shared_bytes_per_sm = attribute(driver, kCudaAttributeSharedBytesPerSm, device);
  return description;
}

std::vector<CudaDeviceDescription> cuda_devices(const CudaDriver& driver) {
  int count = 0;
  driver.device_get_count(&count);
  std::vector<CudaDeviceDescription> all;
  for (int ordinal = 0; ordinal < count; ++ordinal) all.push_back(cuda_device(driver, ordinal));
  return all;
}

}  // namespace sinter
