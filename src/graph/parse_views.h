// Views in a program's text: "[(4, 8) strides (1, 0) + 3]" and ".transpose(0, 1).slice(1, 0, 4)".
#pragma once

#include "src/graph/builder.h"
#include "src/graph/parse_sizes.h"
#include "src/graph/tokens.h"

namespace sinter {

// Reads the views that follow a value and applies them to it. Adds a copy to the graph where a
// reshape needs one.
Operand parse_views(TokenReader& tokens, SizeReader& sizes, GraphBuilder& build, Operand value);

// An axis of a value of that rank; negative axes count from the end. UserError at the token if the
// axis is out of range.
int checked_axis(const TokenReader& tokens, const Token& at, std::int64_t axis, int rank);

// The operand broadcast to `shape`. UserError at the token if it does not broadcast to it.
Operand expanded_to(const TokenReader& tokens, const Token& at, const Operand& operand,
                    const Shape& shape);

}  // namespace sinter
