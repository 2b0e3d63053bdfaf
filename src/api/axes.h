// Axes as a mask.
#pragma once

#include <sinter/ops.h>

#include <cstdint>
#include <string_view>

namespace sinter {

// Bit i is axis i; all of them where none are given. UserError naming the operation for an axis
// that is not there or is named twice.
std::uint32_t axes_mask(std::string_view op, const Tensor& a, const Axes& axes);

}  // namespace sinter
