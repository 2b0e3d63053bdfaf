// CudaKernel: a kernel of the CUDA device in up to two variants: one for buffers aligned for its
// widest accesses (at most 16 bytes), and one for any alignment, compiled on first use. In:
// buffers, scalars, a grid. Out: work on the calling thread's stream.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/cuda/cuda_compiler.h"
#include "src/cuda/cuda_streams.h"
#include "src/runtime/device.h"
#include "src/runtime/gpu_argument.h"

namespace sinter {

struct CudaVariant {
  std::unique_ptr<LoadedCudaFunction> function;
  tile::Mapping mapping;
  std::size_t words = 0;
  std::vector<int> divisors;             // scalars whose reciprocals are passed too
  std::vector<std::uint8_t> alignments;  // per buffer
  int fetch_bytes = 0;
  std::int64_t clusters_at_once = 0;  // for persistent kernels that prefetch

  // Grid size for that many programs; UserError if it exceeds the grid limit.
  unsigned blocks(std::int64_t programs) const;
};

class CudaKernel final : public CompiledKernel {
 public:
  // Compiles the aligned variant.
  CudaKernel(CudaContextPtr primary, std::shared_ptr<CudaStreams> streams,
             std::shared_ptr<const CudaCompiler> compiler, KernelSource source);

  void launch(std::span<const tile::BufferBinding> buffers, std::span<const std::int64_t> scalars,
              std::int64_t grid, double nanoseconds) const override;

  // The parts of a launch, for graphs.
  const CudaVariant& variant_for(std::span<const tile::BufferBinding> buffers) const;
  void launch_on(CUstream stream, const CudaVariant& variant, GpuWords& words, std::int64_t grid,
                 bool programmatic) const;
  // Programmatic dependent launch: a kernel may start while the previous one ends. The generated
  // kernels begin with the matching wait.
  bool can_overlap() const { return primary_->compute() >= 90; }

 private:
  std::unique_ptr<const CudaVariant> compile_variant(const KernelSource& source,
                                                     CompileStats& stats) const;
  void prepare_fetching(CudaVariant& variant) const;
  const CudaVariant& unaligned_variant() const;

  CudaContextPtr primary_;
  std::shared_ptr<CudaStreams> streams_;
  std::shared_ptr<const CudaCompiler> compiler_;
  KernelSource source_;  // of the aligned variant
  std::unique_ptr<const CudaVariant> aligned_;
  mutable std::mutex unaligned_mutex_;
  mutable std::unique_ptr<const CudaVariant> unaligned_owner_;
  mutable std::atomic<const CudaVariant*> unaligned_{nullptr};
};

}  // namespace sinter
