// All combinations of special values; random values near zero and over the dtype's range.
#include "tests/support/op_columns.h"

#include <random>

namespace sinter::testing {

std::vector<OpRow> rows_of_arity(int arity, DType dtype) {
  std::vector<OpRow> rows;
  for (const OpRow& op : op_table())
    if (op.arity == arity && takes(op, dtype)) rows.push_back(op);
  return rows;
}

Columns operand_values(DType dtype, int arity) {
  const std::vector<Real> special = special_values(dtype);
  Columns columns(static_cast<std::size_t>(arity));
  std::mt19937 random(5);
  if (arity == 1) {
    columns[0] = special;
  } else {
    for (Real a : special)
      for (Real b : special) {
        columns[0].push_back(a);
        columns[1].push_back(b);
        if (arity == 3) columns[2].push_back(special[random() % special.size()]);
      }
  }
  for (int i = 0; i < arity; ++i) {
    auto& column = columns[static_cast<std::size_t>(i)];
    auto append = [&](Real low, Real high) {
      const auto more =
          random_values(dtype, 300, static_cast<unsigned>(7 * i) + random(), low, high);
      column.insert(column.end(), more.begin(), more.end());
    };
    append(-1, 1);
    append(-20, 20);
    if (dtype != DType::boolean) append(-60000, 60000);
  }
  return columns;
}

std::vector<Tensor> tensors_of(DType dtype, const Columns& columns, const std::string& device) {
  std::vector<Tensor> tensors;
  for (const auto& column : columns)
    tensors.push_back(
        tensor_of(dtype, Shape{static_cast<std::int64_t>(column.size())}, column).to(device));
  return tensors;
}

std::vector<Real> reference_column(const OpRow& op, DType dtype, const Columns& columns) {
  std::vector<Real> want;
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    auto at = [&](std::size_t k) { return k < columns.size() ? columns[k][i] : 0; };
    want.push_back(reference_value(op, dtype, at(0), at(1), at(2)));
  }
  return want;
}

CompiledFunction compile_ops(std::vector<OpRow> ops, int arity) {
  return compile_list(
      [ops](std::span<const Tensor> inputs) {
        const std::vector<Arg> args(inputs.begin(), inputs.end());
        std::vector<Tensor> results;
        for (const OpRow& op : ops) results.push_back(op.call(args));
        return results;
      },
      arity);
}

}  // namespace sinter::testing
