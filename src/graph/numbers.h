// NumberTable: the numbers that a call gives, and what the host computes from them before it
// launches. A node with Op::number reads one entry. In: the call's numbers. Out: the value of every
// entry, or a UserError for a number that does not fit where it is used.
#pragma once

#include <sinter/number.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/scalar.h"
#include "src/graph/op.h"

namespace sinter {

using NumberId = std::int32_t;
inline constexpr NumberId kNoNumber = -1;

struct NumberExpr {
  enum class Kind : std::uint8_t {
    argument,  // number `index` of the call
    value,     // a number that is known while tracing
    apply,     // `op` of the operands, computed in `dtype`
    quotient,  // of integers, rounded toward 0 as in C++; UserError for division by 0
    cast,      // to `dtype`, as kernels convert
    exact,     // to `dtype`; UserError if an integer dtype cannot hold the number
    divisor,   // the operand; UserError if it is 0
  };
  Kind kind = Kind::value;
  Op op = Op::copy;
  DType dtype = DType::f64;
  std::array<NumberId, 3> operands = {kNoNumber, kNoNumber, kNoNumber};
  int index = 0;
  // Kind::value: the number. Otherwise the value in the call that was traced, which is no part of
  // the expression.
  Scalar value = {};
  std::string_view user = "number";  // the operation that errors name

  std::span<const NumberId> used() const;  // its operands
};

// A program is for calls in which the number has these bits (or, with `same` false, other bits).
struct NumberGuard {
  NumberId number = kNoNumber;
  Scalar value = {};
  bool same = true;
};

class NumberTable {
 public:
  bool empty() const { return exprs_.empty(); }
  std::span<const NumberExpr> exprs() const { return exprs_; }
  std::span<const NumberKind> arguments() const { return arguments_; }
  std::span<const NumberGuard> guards() const { return guards_; }
  const NumberExpr& operator[](NumberId id) const { return exprs_[static_cast<std::size_t>(id)]; }
  bool contains(NumberId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < exprs_.size();
  }
  // The value in the call that was traced.
  const Scalar& traced_value(NumberId id) const { return (*this)[id].value; }

  // Equal expressions get one id.
  NumberId argument(NumberKind kind, const Scalar& traced_value);
  NumberId value(const Scalar& value);
  NumberId apply(Op op, DType dtype, std::initializer_list<NumberId> operands);
  NumberId cast(NumberId operand, DType dtype);
  NumberId add(NumberExpr expr);  // with any kind; its value is computed
  // As operand `index` of `op`: the number counts as `promoted`, the operation takes `operand`. The
  // checks and conversions of a constant, done at each call.
  NumberId as_operand(NumberId number, Op op, std::size_t index, DType promoted, DType operand);

  // Whether the number has these bits in the traced call; the program is then only for calls in
  // which the answer is the same.
  bool is_guarded(NumberId number, const Scalar& value);
  // Its value in the traced call; the program is then only for calls with that value.
  Scalar specialized(NumberId number);

  // UserError if a number does not fit.
  void evaluate(std::span<const Scalar> arguments, std::vector<Scalar>& values) const;
  // `values` are those of evaluate().
  bool guards_hold(std::span<const Scalar> values) const;

 private:
  std::vector<NumberExpr> exprs_;  // operands come first
  std::vector<NumberKind> arguments_;
  std::vector<NumberGuard> guards_;
};

// As number_text() in errors: integers without a point.
std::string plain_text(const Scalar& value);

// Whether an integer dtype holds the number exactly; other dtypes accept every number.
bool holds_exactly(DType dtype, const Scalar& value);

}  // namespace sinter
