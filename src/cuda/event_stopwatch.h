// The stopwatch of a CUDA stream: events before and after the work, read when the work is done.
// In: a stream. Out: the Stopwatch of src/runtime/stopwatch.h.
#pragma once

#include <cstddef>
#include <memory>

#include "src/cuda/context.h"
#include "src/runtime/stopwatch.h"

namespace sinter {

// `stream` is a CUstream of the context; null is its default stream.
std::unique_ptr<Stopwatch> cuda_event_stopwatch(CudaContextPtr context, void* stream);
// Of the current context; of the first device if none is. DeviceError without a driver.
std::unique_ptr<Stopwatch> cuda_event_stopwatch(void* stream);

// What is overwritten before each sample, for a device with such an L2.
std::size_t cuda_flush_bytes(std::size_t l2_bytes);

}  // namespace sinter
