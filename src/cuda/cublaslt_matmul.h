// A matrix product as a kernel: one call of cuBLASLt on the calling thread's stream.
#pragma once

#include <memory>

#include "src/cuda/cublaslt.h"
#include "src/cuda/cuda_pool.h"
#include "src/cuda/cuda_streams.h"
#include "src/runtime/device.h"
#include "src/tile/kernel_body.h"

namespace sinter {

// The pool is for products that the library computes for aligned buffers only.
LibraryKernel make_cublaslt_kernel(const std::shared_ptr<const CublasLt>& library,
                                   std::shared_ptr<CudaStreams> streams,
                                   std::shared_ptr<CudaPool> pool, const LibraryMatmul& call);

}  // namespace sinter
