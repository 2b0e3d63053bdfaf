// How deep a JSON text is nested, before it is parsed: who copies or prints such a value calls
// itself once a level, and a file could ask for more levels than there is stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace sinter {

// More than any file of ours has.
inline constexpr std::size_t kMostJsonNesting = 64;

// Of valid JSON exactly; of anything else at least as deep as a parser gets.
inline std::size_t json_nesting(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace sinter
