// The CUDA device: kernels are rendered as CUDA C++, compiled by NVRTC, cached on disk as cubins
// and launched on the calling thread's stream. In: a GPU's ordinal. Out: a Device; DeviceError if
// the driver or NVRTC is missing.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/cuda/cublaslt.h"
#include "src/cuda/cuda_compiler.h"
#include "src/cuda/cuda_pool.h"
#include "src/cuda/cuda_streams.h"
#include "src/runtime/device.h"

namespace sinter {

struct CudaDeviceOptions {
  int ordinal = 0;
  std::string cache_dir;               // empty: no kernels are kept after exit
  const CudaDriver* driver = nullptr;  // null: this machine's
  // Empty: those of cuda_library_paths().
  std::vector<std::string> nvrtc_paths;
  std::vector<std::string> cublaslt_paths;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(const CudaDeviceOptions& options);

  std::string name() const override { return name_; }
  std::string description() const override;
  std::string model() const override;  // "NVIDIA H200 sm_90"
  std::string compiler_version() const override;
  int parallelism() const override { return primary_->description().sm_count; }
  Machine machine() const override;
  double copy_bandwidth() override;
  // Computed, not measured: multiprocessors x 128 lanes x 2 x the driver's clock rate.
  std::optional<double> peak_flops() override;

  StoragePtr allocate(std::size_t bytes) override { return pool_->allocate(bytes); }
  void set_allocator(const AllocatorPtr& allocator) override { pool_->set_allocator(allocator); }
  MemoryStats memory() const override { return pool_->stats(); }
  void reset_peak() override { pool_->reset_peak(); }
  void release_cached() override { pool_->release_cached(); }
  std::size_t available_memory() const override { return pool_->available(); }

  bool shares_host_memory() const override { return false; }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override;
  void copy_to_host(void* to, const void* from, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void synchronize() override { streams_->synchronize(); }
  std::unique_ptr<Stopwatch> stopwatch() override;

  RenderTarget render_target() const override { return {.dialect = Dialect::cuda}; }
  KernelPtr compile(const KernelSource& source) override;
  // cuBLASLt, if it is found and starts. It has every dtype on all GPUs that Sinter supports.
  MatmulLibrary matmul_library() override;
  LibraryKernel library_kernel(const LibraryMatmul& call) override;
  std::string assembly(const KernelSource& source) override;
  std::unique_ptr<LaunchGraph> make_launch_graph(std::span<const GraphStep> steps) override;

  int ordinal() const { return primary_->ordinal(); }
  CudaStreams& streams() { return *streams_; }
  const CudaCompiler& compiler() const { return *compiler_; }

 private:
  double measure_copy_bandwidth();
  const LoadedCublasLt& cublaslt();  // loads it on first use

  CudaContextPtr primary_;
  std::string name_;
  std::shared_ptr<const CudaCompiler> compiler_;
  std::shared_ptr<CudaStreams> streams_;
  std::shared_ptr<CudaPool> pool_;
  std::vector<std::string> cublaslt_paths_;
  std::once_flag cublaslt_once_;
  LoadedCublasLt cublaslt_;
  std::once_flag bandwidth_once_;
  double bandwidth_ = 0;
};

// "cuda" is the first GPU, "cuda:1" the second.
std::string cuda_device_name(int ordinal);

// Registers "cuda" without looking for a GPU; using it reports what is missing.
void register_cuda_device();
// The registry's name for `name`: "cuda" for "cuda:0". Registers "cuda:1" and so on if there are
// that many GPUs. Other names are returned unchanged.
std::string register_cuda_device(const std::string& name);

}  // namespace sinter
