// Op: every kind of node a Graph can have, and what the op table (sinter/ops.def) says of each
// pointwise one.
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
  iota,      // start + step * index
#define SINTER_POINTWISE(name, arity, rule, cost, expression) name,
#include <sinter/ops.def>
#undef SINTER_POINTWISE
  cast,    // to the node's dtype
  reduce,  // over some axes
  concat,  // along one axis
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
  int cost = 0;                      // simple instructions an element, about
  std::string_view expression = {};  // over a, b, c; empty for what is not in the op table
};

const OpInfo& info(Op op);
std::string_view name_of(Op op);

// Computes each element from the same element of its operands: a row of the op table, or a cast.
bool is_pointwise(Op op);

// Worth computing once and keeping instead of computing again.
inline constexpr int kHeavyCost = 8;

// The dtype that operand `index` is cast to, and the result's, given all operands' dtypes.
struct OpTypes {
  DType operands[3] = {DType::f32, DType::f32, DType::f32};
  DType result = DType::f32;
};
OpTypes op_types(Op op, std::span<const DType> operands);

// The op that computes `op` on operands of that dtype, which is what a Graph holds: a sum of bools
// is their logical_or, and the floor of an integer is a copy.
Op op_on(Op op, DType operands);

}  // namespace sinter
