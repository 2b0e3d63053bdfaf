// ReduceKind: every reduction, and the table's (sinter/reductions.def) data about each.
#pragma once

#include <sinter/dtype.h>

#include <cstdint>
#include <string_view>

#include "src/base/scalar.h"
#include "src/graph/op.h"

namespace sinter {

enum class ReduceKind : std::uint8_t {
#define SINTER_REDUCTION(name, identity, combine, dtype, finish) name,
#include <sinter/reductions.def>
#undef SINTER_REDUCTION
};

enum class Identity : std::uint8_t { Zero, One, Lowest, Highest };
enum class ReduceDType : std::uint8_t { Same, Accumulated };
enum class ReduceFinish : std::uint8_t { Value, Position };

struct ReductionInfo {
  std::string_view name;
  Identity identity = Identity::Zero;
  Op combine = Op::add;
  ReduceDType dtype = ReduceDType::Same;
  ReduceFinish finish = ReduceFinish::Value;
};

const ReductionInfo& info(ReduceKind kind);
std::string_view name_of(ReduceKind kind);

// Whether the result is a position (argmax), not a value.
bool is_arg(ReduceKind kind);
// max for argmax, min for argmin; otherwise the kind itself.
ReduceKind value_kind(ReduceKind kind);
// Whether reducing zero elements is defined: the result is then the identity, 0 or 1.
bool is_defined_for_nothing(ReduceKind kind);

// Whether an element may be counted twice without changing the result.
bool is_idempotent(ReduceKind kind);

// The identity element of the reduction.
Scalar identity_of(ReduceKind kind, DType dtype);

// The result's dtype.
DType reduce_dtype(ReduceKind kind, DType input);
// The dtype the reduction accumulates in, given its operand's.
DType accumulator_dtype(ReduceKind kind, DType input);

}  // namespace sinter
