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

bool same_expression(const NumberExpr& a, const NumberExpr& b) {
  return a.kind == b.kind && a.op == b.op && a.dtype == b.dtype && a.operands == b.operands &&
         a.index == b.index && (a.kind != Kind::value || same_bits(a.value, b.value));
}

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

Scalar applied(const NumberExpr& expr, const ById<NumberId, Scalar>& values) {
  std::array<Scalar, 3> operands;
  for (std::size_t i = 0; i < expr.used().size(); ++i) {
    operands[i] = values[expr.operands[i]];
    if (is_integer(expr.dtype)) as_integer(expr, operands[i]);
  }
  const auto result = evaluate(expr.op, expr.dtype, operands);
  SINTER_ASSERT(result, "there is no {} of {}", name_of(expr.op), name_of(expr.dtype));
  return *result;
}

Scalar computed(const NumberExpr& expr, std::span<const Scalar> arguments,
                const ById<NumberId, Scalar>& values) {
  const auto operand = [&](std::size_t i) -> const Scalar& { return values[expr.operands[i]]; };
  switch (expr.kind) {
    case Kind::argument:
      return arguments[static_cast<std::size_t>(expr.index)];
    case Kind::value:
      return expr.value;
    case Kind::apply:
      return applied(expr, values);
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
  for (NumberId id = 0; id < exprs_.end_id(); ++id)
    if (same_expression(exprs_[id], expr)) return id;
  if (expr.kind != Kind::value && expr.kind != Kind::argument) {
    ById<NumberId, Scalar> values;
    for (const NumberExpr& known : exprs_) values.push_back(known.value);
    expr.value = computed(expr, {}, values);
  }
  return exprs_.push_back(expr);
}

NumberId NumberTable::argument(NumberKind kind, const Scalar& traced_value) {
  const ArgumentId index = arguments_.push_back(kind);
  return add({.kind = Kind::argument, .index = index, .value = traced_value});
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
  const bool same = same_bits(traced_value(number), value);
  const bool known = std::any_of(guards_.begin(), guards_.end(), [&](const NumberGuard& guard) {
    return guard.number == number && guard.same == same && same_bits(guard.value, value);
  });
  if (!known) guards_.push_back({number, value, same});
  return same;
}

Scalar NumberTable::specialized(NumberId number) {
  const Scalar value = traced_value(number);
  is_guarded(number, value);
  return value;
}

void NumberTable::evaluate(std::span<const Scalar> arguments,
                           ById<NumberId, Scalar>& values) const {
  values.clear();
  for (const NumberExpr& expr : exprs_) values.push_back(computed(expr, arguments, values));
}

bool NumberTable::guards_hold(const ById<NumberId, Scalar>& values) const {
  return std::all_of(guards_.begin(), guards_.end(), [&](const NumberGuard& guard) {
    return same_bits(values[guard.number], guard.value) == guard.same;
  });
}

}  // namespace sinter
