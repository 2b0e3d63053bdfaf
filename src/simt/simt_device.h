// The simt device: runs CUDA kernels on the CPU, one fiber per thread, and checks their accesses.
// For tests and for debugging without a GPU (docs/DEBUGGING_KERNELS.md).
#pragma once

#include <memory>
#include <string>

#include "src/base/options.h"
#include "src/cpu/memory_pool.h"
#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"

namespace sinter {

struct SimtDeviceOptions {
  int threads = 0;        // host threads; 0: all that the process may use
  std::string cache_dir;  // empty: no kernels are kept after exit
  std::string cxx;        // see Options::cxx
  std::string sources;    // see Options::simt_sources
};

SimtDeviceOptions simt_device_options(const Options& options);

class SimtDevice final : public Device {
 public:
  // DeviceError without a compiler.
  explicit SimtDevice(const SimtDeviceOptions& options);
  ~SimtDevice() override;

  std::string name() const override { return "simt"; }
  std::string description() const override;
  std::string compiler_version() const override;
  // Why the compiler does not work and what that costs; empty if it works. Tries it.
  std::string limitation() const;
  int parallelism() const override { return machine().multiprocessors; }
  Machine machine() const override;  // an H100's, so that the same kernels are generated
  double copy_bandwidth() override;
  std::optional<double> peak_flops() override { return std::nullopt; }

  StoragePtr allocate(std::size_t bytes) override { return pool_->allocate(bytes); }
  void set_allocator(const AllocatorPtr& allocator) override { pool_->set_allocator(allocator); }
  MemoryStats memory() const override { return pool_->stats(); }
  void reset_peak() override { pool_->reset_peak(); }
  std::size_t available_memory() const override { return pool_->available(); }
  void release_cached() override { pool_->release_cached(); }

  bool shares_host_memory() const override { return true; }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override;
  void copy_to_host(void* to, const void* from, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void synchronize() override {}  // launches block
  std::unique_ptr<Stopwatch> stopwatch() override { return wall_stopwatch(); }

  RenderTarget render_target() const override { return {.dialect = Dialect::simt}; }
  KernelPtr compile(const KernelSource& source) override;
  std::vector<KernelPtr> compile_together(std::span<const KernelSource> sources) override;
  // A hand-written kernel; runs regardless of the buffers' alignment.
  KernelPtr compile_text(const KernelSource& source);

 private:
  class Builder;  // shared with kernels, which may need their unaligned variant later

  std::shared_ptr<ThreadPool> workers_;
  std::shared_ptr<MemoryPool> pool_;
  std::shared_ptr<Builder> builder_;
};

std::shared_ptr<SimtDevice> make_simt_device(const SimtDeviceOptions& options);

// Registers "simt" with the environment's options.
void register_simt_device();

}  // namespace sinter
