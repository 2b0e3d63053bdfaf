// Arithmetic on Numbers: computed immediately, or recorded in the table of their trace.
#include <sinter/number.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>

#include "src/api/trace.h"
#include "src/base/check.h"

namespace sinter {
namespace {

using detail::NumberFunction;

constexpr Op kOps[] = {Op::add,     Op::sub,     Op::mul, Op::div,  Op::neg, Op::abs,
                       Op::minimum, Op::maximum, Op::pow, Op::sqrt, Op::exp, Op::log};

bool gives_real(NumberFunction function) { return function >= NumberFunction::pow; }

NumberExpr expression(NumberFunction function, NumberKind kind,
                      std::initializer_list<NumberId> operands) {
  const bool is_real = kind == NumberKind::real;
  NumberExpr expr{.kind = NumberExpr::Kind::apply,
                  .op = kOps[static_cast<int>(function)],
                  .dtype = is_real ? DType::f64 : DType::i64};
  if (!is_real && function == NumberFunction::div) {
    expr.kind = NumberExpr::Kind::quotient;
    expr.op = Op::copy;
  }
  std::copy(operands.begin(), operands.end(), expr.operands.begin());
  return expr;
}

// The trace that one of the numbers belongs to; null if all of them are values.
std::shared_ptr<Trace> trace_of(std::initializer_list<const Number*> numbers) {
  for (const Number* number : numbers) {
    if (!number->is_traced()) continue;
    std::shared_ptr<Trace> trace = number->traced()->trace();
    if (!trace || trace.get() != current_trace())
      fail_user("number",
                "a number made while tracing a function was used outside of it; what follows from "
                "it belongs into the function");
    return trace;
  }
  return nullptr;
}

Number applied(NumberFunction function, std::initializer_list<const Number*> numbers) {
  NumberKind kind = gives_real(function) ? NumberKind::real : NumberKind::integer;
  for (const Number* number : numbers)
    if (number->kind() == NumberKind::real) kind = NumberKind::real;
  const auto add_to = [&](NumberTable& table, auto&& id_of) {
    std::array<NumberId, 2> ids{kNoNumber, kNoNumber};
    std::size_t count = 0;
    for (const Number* number : numbers) ids[count++] = id_of(*number);
    return table.add(count == 1 ? expression(function, kind, {ids[0]})
                                : expression(function, kind, {ids[0], ids[1]}));
  };
  if (const std::shared_ptr<Trace> trace = trace_of(numbers))
    return trace->traced(kind, add_to(trace->graph.numbers,
                                      [&](const Number& each) { return trace->number(each); }));
  NumberTable table;
  const NumberId id =
      add_to(table, [&](const Number& each) { return table.value(scalar_of(each)); });
  return number_of(kind, table.traced_value(id));
}

}  // namespace

Scalar scalar_of(const Number& number) {
  // An unsigned integer beyond i64 counts as a real number that keeps its digits.
  if (number.is_beyond_i64()) return {number.real(), number.integer(), true};
  return number.kind() == NumberKind::real ? Scalar::of(number.real())
                                           : Scalar::of(number.integer());
}

Number number_of(NumberKind kind, const Scalar& value) {
  if (kind == NumberKind::boolean) return value.integer != 0;
  if (kind == NumberKind::real) return value.real;
  if (value.is_real) return static_cast<std::uint64_t>(value.integer);  // beyond i64
  return value.integer;
}

void Number::fail_traced() {
  fail_user("number",
            "the function that is being compiled has no value for its Number yet: it is given at "
            "each call");
}

namespace detail {

Number apply(NumberFunction function, const Number& a) { return applied(function, {&a}); }

Number apply(NumberFunction function, const Number& a, const Number& b) {
  return applied(function, {&a, &b});
}

}  // namespace detail
}  // namespace sinter
