// Kernels of the simt device: CUDA source in a host library.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "src/codegen/kernel_source.h"
#include "src/cpu/cpu_kernel.h"
#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/simt/simt_interface.h"

namespace sinter {

// The symbols of a kernel in its library.
struct SimtSymbols {
  std::string entry;
  std::string place;  // returns where the running thread is stored
};

class SimtKernel final : public CompiledKernel {
 public:
  // `source.body` is the whole text as compiled. If a buffer is not aligned as the source demands,
  // the kernel that `make_unaligned` makes runs instead; if that is empty, this one does.
  SimtKernel(std::shared_ptr<const LoadedLibrary> library, const SimtSymbols& symbols,
             KernelSource source, std::shared_ptr<ThreadPool> workers,
             std::function<KernelPtr()> make_unaligned, const CompileStats& stats);

  // InternalError if the kernel does something invalid on a GPU, naming the thread and the line.
  void launch(std::span<const tile::BufferBinding> buffers, std::span<const std::int64_t> scalars,
              std::int64_t grid, double nanoseconds) const override;

 private:
  const CompiledKernel& unaligned_kernel() const;

  std::shared_ptr<const LoadedLibrary> library_;
  KernelSource source_;
  std::shared_ptr<ThreadPool> workers_;
  std::function<KernelPtr()> make_unaligned_;
  mutable std::once_flag unaligned_once_;
  mutable KernelPtr unaligned_;
  void (*entry_)(const void* words) = nullptr;
  sn::simt::Thread** (*place_)() = nullptr;
};

}  // namespace sinter
