// The stopwatch of a CUDA stream: events before and after the work, read when it is done. In: a
// stream. Out: the Stopwatch of src/runtime/stopwatch.h.
#pragma once

#include <cstddef>
#include <memory>

#include "src/cuda/context.h"
#include "src/runtime/stopwatch.h"

namespace sinter {

// `stream` is a CUstream of the context; null is its default stream.
std::unique_ptr<Stopwatch> cuda_event_stopwatch(CudaContextPtr context, void* stream);
// In the current context, or the first device's if there is none. DeviceError without a driver.
std::unique_ptr<Stopwatch> cuda_event_stopwatch(void* stream);

// Size of the buffer overwritten before each sample to flush an L2 of that size.
std::size_t cuda_flush_bytes(std::size_t l2_bytes);

}  // namespace sinter
