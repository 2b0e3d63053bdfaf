// One row of the op table on single numbers, computed on the host: what the constant folder and the
// numbers of a call (numbers.h) use.
#pragma once

#include <array>
#include <optional>

#include "src/base/scalar.h"
#include "src/graph/op.h"

namespace sinter {

// `op` of operands that have `dtype` (the condition of Select is a bool), in the precision that
// kernels compute in. Nothing if there is no such op for that dtype.
std::optional<Scalar> evaluate(Op op, DType dtype, const std::array<Scalar, 3>& values);

}  // namespace sinter
