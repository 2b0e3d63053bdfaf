// What the printers and parsers of graphs and tile programs share: how numbers are written, and
// which constant a number among an operation's operands becomes. docs/TEXT.md describes the format.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/graph/graph.h"

namespace sinter {

// A number as written. Integers and bools have an integer value.
struct Literal {
  enum class Kind : std::uint8_t { boolean, integer, real };
  Kind kind = Kind::real;
  Scalar value = {};
};

// An operand of a pointwise operation, as far as dtypes are concerned: a value or a typed number
// has a dtype, a plain number (`exp 1.0`) has none.
struct WrittenOperand {
  std::optional<DType> dtype = std::nullopt;
  Literal literal = {};
};

// A constant node: its dtype and value.
struct Constant {
  DType dtype = DType::f32;
  Scalar value = {};
  DType promoted = DType::f32;  // the dtype it counts as when dtypes are promoted
};

// The constant that a typed number becomes: rounded to the type that kernels compute in.
Scalar rounded_number(const Literal& literal, DType dtype);

// The constants that the plain numbers among the operands become, by the rules of the API: a number
// takes the dtype of the other operands, or that of the result if there are none. Entries of other
// operands are unspecified.
std::vector<Constant> plain_constants(Op op, std::span<const WrittenOperand> operands,
                                      std::optional<DType> result);

// The shortest text that is read back as this number in a constant of that dtype.
std::string number_text(const Scalar& value, DType dtype);
// Likewise, marked as exact if it would be read as the other number `read`.
std::string exact_text(const Scalar& value, const Scalar& read, DType dtype);
// Likewise, marked as exact if reading it as a typed number (rounded_number()) would change it.
std::string constant_text(const Scalar& value, DType dtype);
// The number that number_text() writes.
Literal written_literal(const Scalar& value, DType dtype);

}  // namespace sinter
