// A program's launches as one CUDA graph, captured once. Changed buffers are patched into its nodes
// without capturing again. In: kernels, and buffers for each launch. Out: work on the calling
// thread's stream.
#pragma once

#include <memory>
#include <span>

#include "src/cuda/cuda_kernel.h"

namespace sinter {

// The steps' kernels must be CudaKernels.
std::unique_ptr<LaunchGraph> make_cuda_graph(CudaContextPtr primary,
                                             std::shared_ptr<CudaStreams> streams,
                                             std::span<const GraphStep> steps);

}  // namespace sinter
