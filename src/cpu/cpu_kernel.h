// Kernels of the CPU device: compiled (in a shared library) and interpreted.
#pragma once

#include <memory>
#include <string>

#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"

namespace sinter {

// A loaded shared library, unloaded by its destructor.
class LoadedLibrary {
 public:
  // Null, with the reason in `error`, if it cannot be loaded.
  static std::unique_ptr<LoadedLibrary> load(const std::string& path, std::string& error);
  ~LoadedLibrary();
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  void* symbol(const std::string& name) const;  // null if missing

 private:
  explicit LoadedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

// The entry point that render_cpu() writes: runs the programs first <= id < last.
using KernelEntry = void (*)(const tile::BufferBinding* buffers, const std::int64_t* scalars,
                             std::int64_t first, std::int64_t last, char* scratch);

class CpuKernel final : public CompiledKernel {
 public:
  CpuKernel(std::shared_ptr<const LoadedLibrary> library, KernelEntry entry,
            std::size_t scratch_bytes, std::shared_ptr<ThreadPool> threads,
            const CompileStats& stats);

  void launch(std::span<const tile::BufferBinding> buffers, std::span<const std::int64_t> scalars,
              std::int64_t grid, double nanoseconds) const override;

 private:
  std::shared_ptr<const LoadedLibrary> library_;
  KernelEntry entry_;
  std::size_t scratch_bytes_;
  std::shared_ptr<ThreadPool> threads_;
};

class InterpretedKernel final : public CompiledKernel {
 public:
  InterpretedKernel(tile::TileProgram program, std::shared_ptr<ThreadPool> threads);

  void launch(std::span<const tile::BufferBinding> buffers, std::span<const std::int64_t> scalars,
              std::int64_t grid, double nanoseconds) const override;

 private:
  tile::TileProgram program_;
  std::shared_ptr<ThreadPool> threads_;
};

}  // namespace sinter
