// CudaCompiler: from a kernel's text to a function that can be launched: the cubin on disk, else
// NVRTC's, loaded into the GPU's context. Safe from many threads.
// In: a CudaSource. Out: a LoadedCudaFunction; CompileError, DeviceError.
#pragma once

#include <memory>
#include <string>

#include "src/codegen/cuda/renderer.h"
#include "src/cuda/context.h"
#include "src/cuda/nvrtc.h"
#include "src/runtime/device.h"
#include "src/runtime/disk_cache.h"

namespace sinter {

// What NVRTC is asked to make for a GPU.
struct CudaTarget {
  std::string architecture;  // "sm_90a"
  CudaImage image = CudaImage::cubin;
};

// For compute capability 9.0 with its own instructions; others by their number. A GPU that this
// NVRTC does not know gets PTX, which the driver compiles. DeviceError below 8.0.
CudaTarget choose_cuda_target(int compute_major, int compute_minor, const Nvrtc& nvrtc);

// A function in a module of its own, which is unloaded with it.
class LoadedCudaFunction {
 public:
  // The driver's code, 0 if it worked; `function` is set then.
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
  // `cache_dir`: empty: nothing is kept after the process.
  CudaCompiler(CudaContextPtr primary, std::shared_ptr<const Nvrtc> nvrtc,
               const std::string& cache_dir);

  std::unique_ptr<LoadedCudaFunction> compile(const CudaSource& source, const std::string& name,
                                              CompileStats& stats) const;
  std::string ptx(const CudaSource& source, const std::string& name) const;

  const Nvrtc& nvrtc() const { return *nvrtc_; }
  const CudaTarget& target() const { return target_; }
  const DiskCache& disk_cache() const { return *disk_cache_; }

 private:
  Hash128 disk_key(const CudaSource& source) const;
  std::string failed_sources() const;

  CudaContextPtr primary_;
  std::shared_ptr<const Nvrtc> nvrtc_;
  CudaTarget target_;
  std::unique_ptr<DiskCache> disk_cache_;
};

}  // namespace sinter
