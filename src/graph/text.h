// Shared by the printers and parsers of graphs and tile programs: how numbers are written, and
// which constant a number written as an operand becomes. docs/TEXT.md describes the format.
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

// A pointwise operation's operand for dtype promotion: a value or a typed number has a dtype, a
// plain number (`exp 1.0`) has none.
struct WrittenOperand {
  std::optional<DType> dtype = std::nullopt;
  Literal literal = {};
};

// A constant node: its dtype and value.
struct Constant {
  DType dtype = DType::f32;
  Scalar value = {};
  DType promoted = DType::f32;  // the dtype it has in type promotion
};

// The constant a typed number becomes: rounded to the dtype kernels compute in.
Scalar rounded_number(const Literal& literal, DType dtype);

// The constants that plain-number operands become, by the rules of the API: a number takes the
// dtype of the other operands, or the result's if all operands are numbers. Entries for operands
// with a dtype are unspecified.
std::vector<Constant> plain_constants(Op op, std::span<const WrittenOperand> operands,
                                      std::optional<DType> result);

// The shortest text that reads back as this number in a constant of that dtype.
std::string number_text(const Scalar& value, DType dtype);
// Likewise, but with "exact" if parsing would give `read` and that differs from `value`.
std::string exact_text(const Scalar& value, const Scalar& read, DType dtype);
// Likewise, but with "exact" if parsing it as a typed number (rounded_number()) would change it.
std::string constant_text(const Scalar& value, DType dtype);
// The literal that number_text() prints.
Literal written_literal(const Scalar& value, DType dtype);

}  // namespace sinter
