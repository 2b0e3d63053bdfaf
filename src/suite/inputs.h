// The tensors a case is run with: random, but the same for a case, shape and type in every run.
// In: a case, a shape, a type. Out: tensors in the device's own memory.
#pragma once

#include <vector>

#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/suite/case.h"

namespace sinter::suite {

// DeviceError where they do not fit into memory.
std::vector<Tensor> make_inputs(const Case& each, const Shape2& shape, DType dtype, Device& device,
                                ThreadPool& threads);

// For compiling only: addresses without memory behind them, so that any shape can be looked at.
std::vector<Tensor> unbacked_inputs(const Case& each, const Shape2& shape, DType dtype);

}  // namespace sinter::suite
