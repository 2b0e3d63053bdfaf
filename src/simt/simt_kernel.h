// Kernels of the simt device: the CUDA dialect's text in a library of the host.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "src/codegen/cuda/renderer.h"
#include "src/cpu/cpu_kernel.h"
#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/simt/simt_interface.h"

namespace sinter {

// A kernel's functions in its library.
struct SimtSymbols {
  std::string entry;
  std::string place;  // where the thread that runs is written down
};

class SimtKernel final : public CompiledKernel {
 public:
  // `source.text` as it was compiled. Where a buffer does not begin at a multiple of
  // kCudaAlignment, the kernel that `unaligned` makes runs instead; empty: this one does.
  SimtKernel(std::shared_ptr<const LoadedLibrary> library, const SimtSymbols& symbols,
             CudaSource source, std::shared_ptr<ThreadPool> workers,
             std::function<KernelPtr()> unaligned, const CompileStats& stats);

  // InternalError where the kernel does what a GPU would not forgive; says which thread, and where.
  void launch(std::span<const tile::BufferBinding> buffers, std::span<const std::int64_t> scalars,
              std::int64_t grid, double nanoseconds) const override;

 private:
  std::shared_ptr<const LoadedLibrary> library_;
  CudaSource source_;
  std::shared_ptr<ThreadPool> workers_;
  std::function<KernelPtr()> unaligned_;
  void (*entry_)(const void* words) = nullptr;
  sn::simt::Thread** (*place_)() = nullptr;
};

}  // namespace sinter
