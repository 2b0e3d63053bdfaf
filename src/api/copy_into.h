// Copies a tensor's elements into another one's memory, with a kernel if their layouts differ.
#pragma once

#include <sinter/tensor.h>

namespace sinter {

// Both have the same dtype and shape, are on the same device and do not overlap.
void copy_into(const Tensor& source, const Tensor& destination);

}  // namespace sinter
