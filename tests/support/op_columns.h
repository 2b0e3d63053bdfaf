// Operands for whole rows of the op table: special values and random ones, and their results.
// In: an op, a dtype. Out: columns of values, tensors of them, the reference's results.
#pragma once

#include <sinter/sinter.h>

#include <string>
#include <vector>

#include "tests/support/op_table.h"

namespace sinter::testing {

std::vector<OpRow> rows_of_arity(int arity, DType dtype);  // that take operands of the dtype

using Columns = std::vector<std::vector<Real>>;  // one list of values per operand

// All combinations of special values, then random ones near zero and over the dtype's range.
Columns operand_values(DType dtype, int arity);
std::vector<Tensor> tensors_of(DType dtype, const Columns& columns,
                               const std::string& device = "cpu");
std::vector<Real> reference_column(const OpRow& op, DType dtype, const Columns& columns);

// One function with a result for each op.
CompiledFunction compile_ops(std::vector<OpRow> ops, int arity);

}  // namespace sinter::testing
