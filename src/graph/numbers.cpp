// Adding entries, and evaluating them in order.
#include "src/graph/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/base/check.h"
#include "src/graph/evaluate.h"

namespace sinter {
namespace {

using Kind = NumberExpr::Kind;

// An unsigned integer beyond i64 is marked real; it has no i64 value.
const Scalar& as_integer(const NumberExpr& expr, const Scalar& value) {
  if (value.is_real)
    fail_user(expr.user, "{} does not fit {}", plain_text(value), name_of(DType::i64));
  return value;
}

Scalar quotient(const NumberExpr& expr, const Scalar& a, const Scalar& b) {
  const std::int64_t divisor = as_integer(expr, b).integer;
  if (divisor == 0) fail_user(expr.user, "an integer cannot be divided by 0");
  const std::int64_t value = as_integer(expr, a).integer;
  if (divisor == -1)
    return Scalar::of(static_cast<std::int64_t>(-static_cast<std::uint64_t>(value)));
  return Scalar::of(value / divisor);
}

[[noreturn]] void fail_to_fit(const NumberExpr& expr, const Scalar& value) {
  const std::string_view dtype = name_of(expr.dtype);
  if (expr.user == "full") fail_user(expr.user, "{} cannot hold {}", dtype, plain_text(value));
  if (value.is_real)
    fail_user(expr.user, "{} does not fit {}; cast the tensor to f64", plain_text(value), dtype);
  fail_user(expr.user, "{} does not fit {}, the type of the tensor; cast the tensor to i64",
            plain_text(value), dtype);
}

// `value_of(id)` is the value of an earlier entry.
template <typename ValueOf>
Scalar applied(const NumberExpr& expr, const ValueOf& value_of) {
  std::array<Scalar, 3> operands;
  for (std::size_t i = 0; i < expr.used().size(); ++i) {
    operands[i] = value_of(expr.operands[i]);
    if (is_integer(expr.dtype)) as_integer(expr, operands[i]);
  }
  const auto result = evaluate(expr.op, expr.dtype, operands);
  SINTER_ASSERT(result, "there is no {} of {}", name_of(expr.op), name_of(expr.dtype));
  return *result;
}

template <typename ValueOf>
Scalar computed(const NumberExpr& expr, std::span<const Scalar> arguments,
                const ValueOf& value_of) {
  const auto operand = [&](std::size_t i) -> const Scalar& { return value_of(expr.operands[i]); };
  switch (expr.kind) {
    case Kind::argument:
      return arguments[static_cast<std::size_t>(expr.index)];
    case Kind::value:
      return expr.value;
    case Kind::apply:
      return applied(expr, value_of);
    case Kind::quotient:
      return quotient(expr, operand(0), operand(1));
    case Kind::cast:
      return operand(0).as(expr.dtype);
    case Kind::exact:
      if (!holds_exactly(expr.dtype, operand(0))) fail_to_fit(expr, operand(0));
      return operand(0).as(expr.dtype);
    case Kind::divisor:
      if (operand(0).real == 0)
        fail_user(expr.user, "integers cannot be divided by 0; cast the tensor to a float");
      return operand(0);
  }
  return {};
}

}  // namespace

std::string plain_text(const Scalar& value) {
  // An integer beyond i64 keeps its digits.
  if (value.is_real && value.integer != 0)
    return fmt::format("{}", static_cast<std::uint64_t>(value.integer));
  return to_string(value);
}

bool holds_exactly(DType dtype, const Scalar& value) {
  if (!is_integer(dtype)) return true;
  if (!value.is_real) return value.as(dtype).integer == value.integer;
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(value.real >= -kLimit && value.real < kLimit) || std::trunc(value.real) != value.real)
    return false;
  return value.as(dtype).integer == static_cast<std::int64_t>(value.real);
}

std::span<const NumberId> NumberExpr::used() const {
  const auto end = std::find(operands.begin(), operands.end(), kNoNumber);
  return {operands.begin(), end};
}

NumberId NumberTable::add(NumberExpr expr) {
  const Hash128 key = key_of(expr);
  if (const auto known = known_exprs_.find(key); known != known_exprs_.end()) return known->second;
  if (expr.kind != Kind::argument)
    expr.traced =
        computed(expr, {}, [&](NumberId id) -> const Scalar& { return exprs_[id].traced; });
  known_exprs_.emplace(key, exprs_.end_id());
  return exprs_.push_back(expr);
}

NumberId NumberTable::argument(NumberKind kind, const Scalar& traced_value) {
  const ArgumentId index = arguments_.push_back(kind);
  return add({.kind = Kind::argument, .index = index, .traced = traced_value});
}

NumberId NumberTable::value(const Scalar& value) { return add({.value = value}); }

NumberId NumberTable::apply(Op op, DType dtype, std::initializer_list<NumberId> operands) {
  NumberExpr expr{.kind = Kind::apply, .op = op, .dtype = dtype};
  std::copy(operands.begin(), operands.end(), expr.operands.begin());
  return add(expr);
}

NumberId NumberTable::cast(NumberId operand, DType dtype) {
  return add({.kind = Kind::cast, .dtype = dtype, .operands = {operand, kNoNumber, kNoNumber}});
}

NumberId NumberTable::as_operand(NumberId number, Op op, std::size_t index, DType promoted,
                                 DType operand) {
  const auto wrap = [&](Kind kind, DType dtype) {
    number = add({.kind = kind,
                  .dtype = dtype,
                  .operands = {number, kNoNumber, kNoNumber},
                  .user = name_of(op)});
  };
  wrap(Kind::exact, compute_dtype(promoted));
  if ((op == Op::floor_div || op == Op::remainder) && is_integer(operand) && index == 1)
    wrap(Kind::divisor, operand);
  wrap(Kind::cast, info(op).rule == DTypeRule::Compare ? operand : compute_dtype(operand));
  return number;
}

bool NumberTable::is_guarded(NumberId number, const Scalar& value) {
  const NumberGuard guard{number, value, same_bits(traced_value(number), value)};
  if (known_guards_.insert(key_of(guard)).second) {
    guards_.push_back(guard);
    mark_for_guards(number);
  }
  return guard.same;
}

void NumberTable::mark_for_guards(NumberId number) {
  serves_guards_.resize(exprs_.size());
  std::vector<NumberId> waiting{number};
  while (!waiting.empty()) {
    const NumberId id = waiting.back();
    waiting.pop_back();
    if (serves_guards_[id]) continue;
    serves_guards_[id] = 1;
    const std::span<const NumberId> used = exprs_[id].used();
    waiting.insert(waiting.end(), used.begin(), used.end());
  }
}

Scalar NumberTable::specialized(NumberId number) {
  const Scalar value = traced_value(number);
  is_guarded(number, value);
  return value;
}

void NumberTable::evaluate(std::span<const Scalar> arguments,
                           ById<NumberId, Scalar>& values) const {
  values.clear();
  for (const NumberExpr& expr : exprs_)
    values.push_back(
        computed(expr, arguments, [&](NumberId id) -> const Scalar& { return values[id]; }));
}

bool NumberTable::guards_hold(std::span<const Scalar> arguments,
                              ById<NumberId, Scalar>& values) const {
  values.assign(exprs_.size(), {});
  const auto value_of = [&](NumberId id) -> const Scalar& { return values[id]; };
  for (NumberId id = 0; id < serves_guards_.end_id(); ++id)
    if (serves_guards_[id]) values[id] = computed(exprs_[id], arguments, value_of);
  return std::all_of(guards_.begin(), guards_.end(), [&](const NumberGuard& guard) {
    return same_bits(values[guard.number], guard.value) == guard.same;
  });
}

}  // namespace sinter
