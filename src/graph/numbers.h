// NumberTable: the scalar arguments of a call, and the scalars the host computes from them before
// the launch. A node with Op::number reads one entry. In: the call's numbers. Out: the value of
// every entry, or a UserError for a number that does not fit where it is used.
#pragma once

#include <sinter/number.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "src/base/by_id.h"
#include "src/base/fields.h"
#include "src/base/scalar.h"
#include "src/graph/op.h"

namespace sinter {

using NumberId = std::int32_t;
using ArgumentId = int;
inline constexpr NumberId kNoNumber = -1;

struct NumberExpr {
  enum class Kind : std::uint8_t {
    argument,  // number `index` of the call
    value,     // a number known while tracing
    apply,     // `op` of the operands, computed in `dtype`
    quotient,  // of integers, rounded toward 0 as in C++; UserError for division by 0
    cast,      // to `dtype`, converting as kernels do
    exact,     // to `dtype`; UserError if an integer dtype cannot hold the number
    divisor,   // the operand; UserError if it is 0
  };
  Kind kind = Kind::value;
  Op op = Op::copy;
  DType dtype = DType::f64;
  std::array<NumberId, 3> operands = {kNoNumber, kNoNumber, kNoNumber};
  ArgumentId index = 0;
  Scalar value = {};                 // of Kind::value
  Scalar traced = {};                // its value in the traced call
  std::string_view user = "number";  // the operation named in errors

  std::span<const NumberId> used() const;  // its operands
};
constexpr auto fields_of(const NumberExpr*) {
  return std::tuple{
      key_field("kind", &NumberExpr::kind),      key_field("op", &NumberExpr::op),
      key_field("dtype", &NumberExpr::dtype),    key_field("operands", &NumberExpr::operands),
      key_field("index", &NumberExpr::index),    key_field("value", &NumberExpr::value),
      note_field("traced", &NumberExpr::traced), note_field("user", &NumberExpr::user)};
}
static_assert(kListsEveryField<NumberExpr>);

// The program is valid only for calls in which the number has these bits (if `same` is false: only
// for calls in which it has other bits).
struct NumberGuard {
  NumberId number = kNoNumber;
  Scalar value = {};
  bool same = true;
};
constexpr auto fields_of(const NumberGuard*) {
  return std::tuple{key_field("number", &NumberGuard::number),
                    key_field("value", &NumberGuard::value), key_field("same", &NumberGuard::same)};
}
static_assert(kListsEveryField<NumberGuard>);

class NumberTable {
 public:
  bool empty() const { return exprs_.empty(); }
  std::span<const NumberExpr> exprs() const { return exprs_; }
  const ById<ArgumentId, NumberKind>& arguments() const { return arguments_; }
  std::span<const NumberGuard> guards() const { return guards_; }
  const NumberExpr& operator[](NumberId id) const { return exprs_[id]; }
  bool contains(NumberId id) const { return exprs_.contains(id); }
  // The value in the traced call.
  const Scalar& traced_value(NumberId id) const { return (*this)[id].traced; }

  // Equal expressions share one id.
  NumberId argument(NumberKind kind, const Scalar& traced_value);
  NumberId value(const Scalar& value);
  NumberId apply(Op op, DType dtype, std::initializer_list<NumberId> operands);
  NumberId cast(NumberId operand, DType dtype);
  // Of any kind; computes its traced value, which an argument brings along.
  NumberId add(NumberExpr expr);
  // The number as operand `index` of `op`, where it promotes as `promoted` and the operation takes
  // `operand`. Applies the checks and conversions of a constant at each call.
  NumberId as_operand(NumberId number, Op op, std::size_t index, DType promoted, DType operand);

  // Whether the number has these bits in the traced call. Adds a guard: the program is valid only
  // for calls with the same answer.
  bool is_guarded(NumberId number, const Scalar& value);
  // The number's value in the traced call. Adds a guard for exactly that value.
  Scalar specialized(NumberId number);

  // Computes all entries. UserError if a number does not fit.
  void evaluate(std::span<const Scalar> arguments, ById<NumberId, Scalar>& values) const;
  // Computes only the entries that guards depend on. `values` is scratch memory.
  bool guards_hold(std::span<const Scalar> arguments, ById<NumberId, Scalar>& values) const;

 private:
  void mark_for_guards(NumberId number);

  ById<NumberId, NumberExpr> exprs_;  // in topological order: operands before users
  ById<ArgumentId, NumberKind> arguments_;
  std::vector<NumberGuard> guards_;
  ById<NumberId, char> serves_guards_;  // whether a guard depends on the entry
  std::unordered_map<Hash128, NumberId, Hash128Hasher> known_exprs_;  // by key
  std::unordered_set<Hash128, Hash128Hasher> known_guards_;           // keys
};

// A number as error messages write it: integers without a decimal point.
std::string plain_text(const Scalar& value);

// Whether an integer dtype holds the number exactly; other dtypes accept every number.
bool holds_exactly(DType dtype, const Scalar& value);

}  // namespace sinter
