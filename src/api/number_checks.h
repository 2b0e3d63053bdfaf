// Checks of numbers and dtypes for mistakes that kernels would turn into wrong values. In: an
// operation's arguments. Out: nothing, or a UserError that names the operation, the number and the
// remedy.
#pragma once

#include <sinter/tensor.h>

#include <span>
#include <string>
#include <string_view>

#include "src/graph/op.h"

namespace sinter {

// A number as printed in messages.
std::string number_text(const Arg& number);

// Refuses operations that bools do not support; `promoted` is the type of all operands.
void check_bools(Op op, DType promoted);

// `dtypes`: each argument's dtype for promotion; `computed`: the dtype the operation computes in.
// Refuses integers that do not fit their dtype, integer division by zero, and negative exponents of
// integers.
void check_numbers(Op op, std::span<const Arg> args, std::span<const DType> dtypes, DType computed);

// Refuses what an integer dtype cannot hold exactly: fractions, NaN, infinities, large numbers.
void check_value(std::string_view op, const Arg& number, DType dtype);

}  // namespace sinter
