// Op: every kind of node a Graph can have, and the op table's (sinter/ops.def) data about each
// pointwise op.
#pragma once

#include <sinter/dtype.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace sinter {

enum class Op : std::uint8_t {
  // Leaves.
  input,     // a tensor given at call time
  constant,  // one number
  number,    // one number argument, or a number computed from arguments (numbers.h)
  iota,      // start + step * index
#define SINTER_POINTWISE(name, arity, rule, cost, expression) name,
#include <sinter/ops.def>
#undef SINTER_POINTWISE
  cast,      // to the node's dtype
  reduce,    // over some axes
  contract,  // sums the products of two operands over some axes
  concat,    // along one axis
};

enum class DTypeRule : std::uint8_t {
  Same,
  Number,
  Ring,
  Signed,
  Whole,
  Floating,
  Compare,
  Logical,
  Test,
  Select
};

struct OpInfo {
  std::string_view name = {};
  int arity = 0;
  DTypeRule rule = DTypeRule::Same;
  int cost = 0;                      // approximate simple instructions per element
  std::string_view expression = {};  // over a, b, c; empty for ops outside the op table
};

const OpInfo& info(Op op);
std::string_view name_of(Op op);

// Computes each element from the same element of its operands: an op of the op table, or a cast.
inline bool is_pointwise(Op op) { return op > Op::iota && op <= Op::cast; }

// Combines the elements along some axes into one.
inline bool is_reduction(Op op) { return op == Op::reduce || op == Op::contract; }

// One value for all elements; kernels take it as a scalar.
inline bool is_scalar(Op op) { return op == Op::constant || op == Op::number; }

// Ops with at least this cost are computed once and kept rather than recomputed.
inline constexpr int kHeavyCost = 8;

// The dtype each operand is cast to, and the dtype of the result.
struct OpTypes {
  DType operands[3] = {DType::f32, DType::f32, DType::f32};
  DType result = DType::f32;
};
OpTypes op_types(Op op, std::span<const DType> operands);

// Whether ops with that rule are defined for operands of that dtype (Select: the last operand's).
constexpr bool rule_allows(DTypeRule rule, DType dtype) {
  switch (rule) {
    case DTypeRule::Floating:
    case DTypeRule::Whole:
    case DTypeRule::Test:
      return is_floating(dtype);
    case DTypeRule::Number:
    case DTypeRule::Ring:
    case DTypeRule::Signed:
      return dtype != DType::boolean;
    case DTypeRule::Logical:
      return dtype == DType::boolean;
    default:
      return true;
  }
}
inline bool is_defined_on(Op op, DType dtype) { return rule_allows(info(op).rule, dtype); }

// The op a Graph stores for `op` on operands of that dtype: adding bools becomes logical_or, and
// the floor of an integer becomes a copy.
Op op_on(Op op, DType operands);

}  // namespace sinter
