// Numbers in a program's text: "0.5", "f16 0.1", "exact 1", "-inf", "true".
#pragma once

#include <optional>

#include "src/graph/text.h"
#include "src/graph/tokens.h"

namespace sinter {

struct NumberText {
  Token at;
  Literal literal;
  std::optional<DType> dtype;  // "f16 0.1"
  bool exact = false;          // "exact 0.1": not rounded
};

std::optional<DType> dtype_named(std::string_view name);

// Whether the next token begins a number.
bool at_number(const TokenReader& tokens);
NumberText parse_number(TokenReader& tokens);
// Just the literal, without a dtype or "exact".
Literal parse_literal(TokenReader& tokens);

// UserError at the number if the dtype cannot hold it: integers must fit and have no fraction.
void check_holds(const TokenReader& tokens, const NumberText& number, DType dtype);

}  // namespace sinter
