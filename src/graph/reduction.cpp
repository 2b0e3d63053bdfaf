// The table of reductions as data.
#include "src/graph/reduction.h"

#include <limits>

#include "src/base/check.h"

namespace sinter {
namespace {

constexpr ReductionInfo kInfos[] = {
#define SINTER_REDUCTION(reduction, start, operation, type, result) \
  {.name = #reduction,                                              \
   .identity = Identity::start,                                     \
   .combine = Op::operation,                                        \
   .dtype = ReduceDType::type,                                      \
   .finish = ReduceFinish::result},
#include <sinter/reductions.def>
#undef SINTER_REDUCTION
};

template <typename T>
Scalar extreme(Identity identity) {
  using Limits = std::numeric_limits<T>;
  return Scalar::of(
      static_cast<std::int64_t>(identity == Identity::Lowest ? Limits::min() : Limits::max()));
}

}  // namespace

const ReductionInfo& info(ReduceKind kind) { return kInfos[static_cast<int>(kind)]; }

std::string_view name_of(ReduceKind kind) { return info(kind).name; }

bool is_arg(ReduceKind kind) { return info(kind).finish == ReduceFinish::Position; }

ReduceKind value_kind(ReduceKind kind) {
  if (!is_arg(kind)) return kind;
  return info(kind).identity == Identity::Lowest ? ReduceKind::max : ReduceKind::min;
}

bool is_defined_for_nothing(ReduceKind kind) {
  return info(kind).identity == Identity::Zero || info(kind).identity == Identity::One;
}

bool is_idempotent(ReduceKind kind) {
  const Op combine = info(kind).combine;
  return is_arg(kind) || combine == Op::maximum || combine == Op::minimum ||
         combine == Op::logical_and || combine == Op::logical_or;
}

Scalar identity_of(ReduceKind kind, DType dtype) {
  const Identity identity = info(kind).identity;
  if (identity == Identity::Zero) return Scalar::of(std::int64_t{0}).as(dtype);
  if (identity == Identity::One) return Scalar::of(std::int64_t{1}).as(dtype);
  if (dtype == DType::boolean) return extreme<bool>(identity);
  if (dtype == DType::i32) return extreme<std::int32_t>(identity);
  if (dtype == DType::i64) return extreme<std::int64_t>(identity);
  const double infinity = std::numeric_limits<double>::infinity();
  return Scalar::of(identity == Identity::Lowest ? -infinity : infinity);
}

DType reduce_dtype(ReduceKind kind, DType input) {
  return is_arg(kind) ? DType::i64 : accumulator_dtype(kind, input);
}

DType accumulator_dtype(ReduceKind kind, DType input) {
  const bool widens = info(kind).dtype == ReduceDType::Accumulated && !is_floating(input);
  return widens ? DType::i64 : input;
}

}  // namespace sinter
