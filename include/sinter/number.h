// Number: a scalar parameter of a compiled function. It is an input: a call with another value does
// not recompile anything, and gives the same bits as compiling that value as a C++ constant
// would.
//
//   auto step = compile([](Tensor w, Tensor g, Number lr) { return w - lr * g; });
//   w = step(w, g, 0.01);
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace sinter {

enum class NumberKind : std::uint8_t { boolean, integer, real };

class TracedNumber;

// Outside compile() it is just a value. Inside a traced function it stands for the value of each
// call, so C++ code cannot branch on it. Arithmetic runs on the host at each call: in double, or in
// std::int64_t if all operands are integers; integer division then rounds toward 0 as in C++.
class Number {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> Number(T value)  // NOLINT: meant to convert
      : real_(static_cast<double>(value)),
        integer_(std::is_floating_point_v<T> ? 0 : static_cast<std::int64_t>(value)),
        is_beyond_i64_(std::is_unsigned_v<T> && integer_ < 0),
        kind_(std::is_same_v<T, bool>       ? NumberKind::boolean
              : std::is_floating_point_v<T> ? NumberKind::real
                                            : NumberKind::integer) {}

  NumberKind kind() const { return kind_; }
  bool is_traced() const { return traced_ != nullptr; }
  // The value. UserError for a traced number: it has one only when the function is called.
  double real() const {
    if (traced_) fail_traced();
    return real_;
  }
  std::int64_t integer() const {  // 0 for reals; valid unless is_beyond_i64()
    if (traced_) fail_traced();
    return integer_;
  }
  bool is_beyond_i64() const { return is_beyond_i64_; }  // an unsigned integer only real() can hold

  // For internal use: a number of a trace.
  Number(NumberKind kind, std::shared_ptr<const TracedNumber> traced)
      : kind_(kind), traced_(std::move(traced)) {}
  const TracedNumber* traced() const { return traced_.get(); }

 private:
  [[noreturn]] static void fail_traced();

  double real_ = 0;
  std::int64_t integer_ = 0;
  bool is_beyond_i64_ = false;
  NumberKind kind_ = NumberKind::real;
  std::shared_ptr<const TracedNumber> traced_;
};

namespace detail {

enum class NumberFunction : std::uint8_t {
  add,
  sub,
  mul,
  div,
  neg,
  abs,
  minimum,
  maximum,
  pow,
  sqrt,
  exp,
  log
};
Number apply(NumberFunction function, const Number& a);
Number apply(NumberFunction function, const Number& a, const Number& b);

// Two numbers, at least one of them a Number: C++ numbers alone have their own operators.
template <typename A, typename B>
concept NumberPair = std::convertible_to<A, Number> && std::convertible_to<B, Number> &&
    (std::same_as<A, Number> || std::same_as<B, Number>);

}  // namespace detail

#define SINTER_NUMBER_BINARY(name, function)                      \
  template <typename A, typename B>                               \
  requires detail::NumberPair<A, B> Number name(A a, B b) {       \
    return detail::apply(detail::NumberFunction::function, a, b); \
  }
SINTER_NUMBER_BINARY(operator+, add)
SINTER_NUMBER_BINARY(operator-, sub)
SINTER_NUMBER_BINARY(operator*, mul)
SINTER_NUMBER_BINARY(operator/, div)
SINTER_NUMBER_BINARY(minimum, minimum)
SINTER_NUMBER_BINARY(maximum, maximum)
SINTER_NUMBER_BINARY(pow, pow)  // a real number, as std::pow of integers
#undef SINTER_NUMBER_BINARY

#define SINTER_NUMBER_UNARY(name, function)                    \
  template <std::same_as<Number> N>                            \
  Number name(const N& a) {                                    \
    return detail::apply(detail::NumberFunction::function, a); \
  }
SINTER_NUMBER_UNARY(operator-, neg)
SINTER_NUMBER_UNARY(abs, abs)
SINTER_NUMBER_UNARY(sqrt, sqrt)
SINTER_NUMBER_UNARY(exp, exp)
SINTER_NUMBER_UNARY(log, log)
#undef SINTER_NUMBER_UNARY

inline Number& operator+=(Number& a, const Number& b) { return a = a + b; }
inline Number& operator-=(Number& a, const Number& b) { return a = a - b; }
inline Number& operator*=(Number& a, const Number& b) { return a = a * b; }
inline Number& operator/=(Number& a, const Number& b) { return a = a / b; }

}  // namespace sinter
