// Checks JSON text before it is parsed, so that errors name a line and a column in our own words.
// Also bounds the nesting: copying and printing JSON values recurse once per level, so a hostile
// file could exhaust the stack.
#pragma once

#include <string>
#include <string_view>

namespace sinter {

inline constexpr int kMaxJsonNesting = 64;  // deeper than any of our files

// Empty if `text` is valid JSON, else e.g. "line 3, column 14: expected ',' or '}', found 'x'".
std::string json_syntax_error(std::string_view text);

}  // namespace sinter
