// The CPU device: kernels are rendered as C++, compiled by the host compiler, cached on disk and
// loaded with dlopen. Without a compiler, cached kernels run and others are interpreted.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/base/options.h"
#include "src/cpu/cpu_kernel.h"
#include "src/cpu/host_compiler.h"
#include "src/cpu/kernel_libraries.h"
#include "src/cpu/memory_pool.h"
#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"

namespace sinter {

struct CpuDeviceOptions {
  int threads = 0;        // 0: all that the process may use
  std::string cache_dir;  // empty: no kernels are kept after exit
  std::string cxx;        // see Options::cxx
  int vector_bytes = 0;   // 16, 32 or 64; 0: the machine's
};

CpuDeviceOptions cpu_device_options(const Options& options);

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const CpuDeviceOptions& options);

  std::string name() const override { return "cpu"; }
  std::string description() const override;
  std::string compiler_version() const override;
  // What is missing and what that costs; empty if nothing. Tries the compiler.
  std::string limitation() const;
  int parallelism() const override { return threads_->threads(); }
  Machine machine() const override;
  double copy_bandwidth() override;
  std::optional<double> peak_flops() override;

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

  RenderTarget render_target() const override {
    return {Dialect::cpu, vector_bytes_, has_libmvec_};
  }
  bool can_compile() const override { return compiler_ || !kept_compilers_.empty(); }
  KernelPtr compile(const KernelSource& source) override;
  KernelPtr interpret(const tile::TileProgram& program) override;
  std::vector<KernelPtr> compile_together(std::span<const KernelSource> sources) override;

  const DiskCache& disk_cache() const { return libraries_.disk_cache(); }

 private:
  // A kernel compiled earlier by a compiler that is no longer present; null if there is none.
  KernelPtr find_kept(const KernelSource& source) const;
  KernelPtr loaded(std::shared_ptr<const LoadedLibrary> library, const KernelSource& source,
                   const std::string& symbol, const CompileStats& stats) const;
  Hash128 disk_key(const KernelSource& source, const std::string& compiler) const;

  const int vector_bytes_;
  const bool has_libmvec_;
  const std::int64_t cache_bytes_;  // of the last level, read once: it is in files
  const std::string cpu_fingerprint_;
  std::shared_ptr<ThreadPool> threads_;
  std::shared_ptr<MemoryPool> pool_;
  KernelLibraries libraries_;
  std::unique_ptr<HostCompiler> compiler_;  // null if there is none
  std::string why_no_compiler_;             // set if compiler_ is null
  // Set if compiler_ is null: compilers whose kernels may be on disk.
  std::vector<std::string> kept_compilers_;
  std::atomic<bool> compiler_is_remembered_ = false;
  std::once_flag bandwidth_once_;
  double bandwidth_ = 0;
  std::once_flag peak_flops_once_;
  std::optional<double> peak_flops_;
};

std::shared_ptr<CpuDevice> make_cpu_device(const CpuDeviceOptions& options);

// Registers "cpu" with the environment's options.
void register_cpu_device();

}  // namespace sinter
