// Axes as a bit mask.
#pragma once

#include <sinter/ops.h>

#include <cstdint>
#include <string_view>

namespace sinter {

// Bit i is axis i; an empty list means all. UserError naming the operation for an axis that does
// not exist or is given twice.
std::uint32_t axes_mask(std::string_view op, const Tensor& a, const Axes& axes);

}  // namespace sinter
