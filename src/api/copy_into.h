// Copies a tensor's elements into another one's memory, with a kernel where they lie otherwise.
#pragma once

#include <sinter/tensor.h>

namespace sinter {

// Of the same dtype and shape, on the same device, without overlap.
void copy_into(const Tensor& source, const Tensor& destination);

}  // namespace sinter
