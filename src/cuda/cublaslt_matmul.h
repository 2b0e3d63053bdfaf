// A matrix product as a kernel: one call of cuBLASLt on the calling thread's stream.
#pragma once

#include <memory>

#include "src/cuda/cublaslt.h"
#include "src/cuda/cuda_streams.h"
#include "src/runtime/compiled_kernel.h"
#include "src/tile/kernel_body.h"

namespace sinter {

// DeviceError if the library cannot compute it.
KernelPtr make_cublaslt_kernel(std::shared_ptr<const CublasLt> library,
                               std::shared_ptr<CudaStreams> streams, const LibraryMatmul& call);

}  // namespace sinter
