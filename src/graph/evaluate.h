// Evaluates one op of the op table on scalars, on the host. Used by the constant folder and by
// number arguments (numbers.h).
#pragma once

#include <array>
#include <optional>

#include "src/base/scalar.h"
#include "src/graph/op.h"

namespace sinter {

// Applies `op` to operands of `dtype` (the condition of Select is a bool), in the precision kernels
// compute in. Returns nullopt if the op is not defined for that dtype.
std::optional<Scalar> evaluate(Op op, DType dtype, const std::array<Scalar, 3>& values);

}  // namespace sinter
