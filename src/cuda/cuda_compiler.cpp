// compile(): a cached image that does not load is rebuilt, whatever the reason (a driver downgrade,
// a bad disk).
#include "src/cuda/cuda_compiler.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "src/base/check.h"
#include "src/base/elapsed.h"

namespace sinter {
namespace {

// Part of every disk key: increase it when the meaning of an entry changes.
constexpr std::uint64_t kFormatVersion = 1;

// Includes the cache's trailer; the driver reads only what the image's headers describe.
std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

}  // namespace

CudaTarget choose_cuda_target(int compute_major, int compute_minor, const Nvrtc& nvrtc) {
  const int compute = compute_major * 10 + compute_minor;
  if (compute < 80)
    throw DeviceError(
        fmt::format("the GPU has compute capability {}.{}, and 8.0 (Ampere) or newer is needed",
                    compute_major, compute_minor),
        "cuDeviceGetAttribute", 0);
  const std::vector<int>& known = nvrtc.architectures();
  if (std::find(known.begin(), known.end(), compute) != known.end())
    return {fmt::format("sm_{}{}", compute, compute == 90 ? "a" : ""), CudaImage::cubin};
  int newest = 0;
  for (const int each : known)
    if (each < compute) newest = std::max(newest, each);
  if (newest < 80)
    throw DeviceError(fmt::format("NVRTC {} compiles for no GPU of compute capability {}.{} or "
                                  "older: install a newer CUDA toolkit",
                                  nvrtc.version_text(), compute_major, compute_minor),
                      "nvrtcGetSupportedArchs", 0);
  return {fmt::format("compute_{}", newest), CudaImage::ptx};
}

CUresult LoadedCudaFunction::load(const CudaContextPtr& primary, const std::string& image,
                                  const std::string& entry,
                                  std::unique_ptr<LoadedCudaFunction>& function) {
  const CudaDriver& driver = primary->driver();
  const ContextScope scope(*primary);
  std::unique_ptr<LoadedCudaFunction> loaded(new LoadedCudaFunction(primary));
  if (const CUresult code = driver.module_load_data.code(&loaded->module_, image.c_str()))
    return code;
  if (const CUresult code =
          driver.module_get_function.code(&loaded->function_, loaded->module_, entry.c_str()))
    return code;
  function = std::move(loaded);
  return 0;
}

LoadedCudaFunction::~LoadedCudaFunction() {
  if (!module_) return;
  CUresult code = 0;
  const ContextScope scope(*primary_, code);
  if (code != 0) return;
  primary_->driver().ctx_synchronize.code();  // it may still be running
  primary_->driver().module_unload.code(module_);
}

CudaCompiler::CudaCompiler(CudaContextPtr primary, std::shared_ptr<const Nvrtc> nvrtc,
                           const std::string& cache_dir)
    : primary_(std::move(primary)),
      nvrtc_(std::move(nvrtc)),
      target_(choose_cuda_target(primary_->description().compute_major,
                                 primary_->description().compute_minor, *nvrtc_)),
      disk_cache_(cache_dir.empty() ? DiskCache::open_private() : DiskCache::open(cache_dir)) {}

Hash128 CudaCompiler::disk_key(const KernelSource& source) const {
  Hasher hasher;
  hasher.add("cuda").add(kFormatVersion).add(source.text()).add(target_.architecture);
  hasher.add(static_cast<std::uint64_t>(target_.image)).add(std::uint64_t{source.contract});
  hasher.add(static_cast<std::uint64_t>(nvrtc_->version())).add(nvrtc_->options_text());
  return hasher.finish();
}

std::string CudaCompiler::failed_sources() const {
  return disk_cache_->is_private() ? "" : disk_cache_->directory();
}

std::unique_ptr<LoadedCudaFunction> CudaCompiler::compile(const KernelSource& source,
                                                          CompileStats& stats) const {
  const auto start = std::chrono::steady_clock::now();
  const Hash128 key = disk_key(source);
  std::unique_ptr<LoadedCudaFunction> function;
  if (const auto path = disk_cache_->get(key);
      path && LoadedCudaFunction::load(primary_, read_file(*path), source.entry, function) == 0) {
    stats.from_disk = true;
  } else {
    std::string image = nvrtc_->compile(source.text(), source.name, target_.architecture,
                                        target_.image, failed_sources(), source.contract);
    image += '\0';  // PTX must be null-terminated
    const CUresult code = LoadedCudaFunction::load(primary_, image, source.entry, function);
    if (code != 0)
      throw DeviceError(
          fmt::format("[cuda] the driver (CUDA {}) does not load kernel {}, compiled by NVRTC {} "
                      "for {}: {}",
                      cuda_version_text(primary_->driver().version()), source.name,
                      nvrtc_->version_text(), target_.architecture,
                      primary_->driver().error_text(code)),
          "cuModuleLoadData", code);
    if (const PutResult kept = disk_cache_->put(key, image); !kept)
      warn_once(fmt::format("compiled kernels are not kept: {}", kept.refusal));
  }
  stats.milliseconds += milliseconds_since(start);
  return function;
}

std::string CudaCompiler::ptx(const KernelSource& source) const {
  return nvrtc_->compile(source.text(), source.name, target_.architecture, CudaImage::ptx,
                         failed_sources(), source.contract);
}

}  // namespace sinter
