// CudaCompiler: turns a kernel's source into a launchable function: the cubin from disk or from
// NVRTC, loaded into the GPU's context. Thread-safe. In: a KernelSource. Out: a LoadedCudaFunction;
// CompileError, DeviceError.
#pragma once

#include <memory>
#include <string>

#include "src/codegen/kernel_source.h"
#include "src/cuda/context.h"
#include "src/cuda/nvrtc.h"
#include "src/runtime/device.h"
#include "src/runtime/disk_cache.h"

namespace sinter {

// NVRTC's output format for a GPU.
struct CudaTarget {
  std::string architecture;  // "sm_90a"
  CudaImage image = CudaImage::cubin;
};

// "sm_90a" for compute capability 9.0, "sm_XY" for others. A GPU this NVRTC does not know gets PTX,
// which the driver compiles. DeviceError below 8.0.
CudaTarget choose_cuda_target(int compute_major, int compute_minor, const Nvrtc& nvrtc);

// A function in its own module, which is unloaded with it.
class LoadedCudaFunction {
 public:
  // The driver's error code; on success (0) sets `function`.
  static CUresult load(const CudaContextPtr& primary, const std::string& image,
                       const std::string& entry, std::unique_ptr<LoadedCudaFunction>& function);
  ~LoadedCudaFunction();
  LoadedCudaFunction(const LoadedCudaFunction&) = delete;
  LoadedCudaFunction& operator=(const LoadedCudaFunction&) = delete;

  CUfunction handle() const { return function_; }

 private:
  explicit LoadedCudaFunction(CudaContextPtr primary) : primary_(std::move(primary)) {}

  CudaContextPtr primary_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

class CudaCompiler {
 public:
  // An empty `cache_dir` keeps nothing after exit.
  CudaCompiler(CudaContextPtr primary, std::shared_ptr<const Nvrtc> nvrtc,
               const std::string& cache_dir);

  std::unique_ptr<LoadedCudaFunction> compile(const KernelSource& source,
                                              CompileStats& stats) const;
  std::string ptx(const KernelSource& source) const;

  const Nvrtc& nvrtc() const { return *nvrtc_; }
  const CudaTarget& target() const { return target_; }
  const DiskCache& disk_cache() const { return *disk_cache_; }

 private:
  Hash128 disk_key(const KernelSource& source) const;
  std::string failed_sources() const;

  CudaContextPtr primary_;
  std::shared_ptr<const Nvrtc> nvrtc_;
  CudaTarget target_;
  std::unique_ptr<DiskCache> disk_cache_;
};

}  // namespace sinter
