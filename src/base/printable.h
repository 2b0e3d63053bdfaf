// Text of a file for a message: short, and harmless to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace sinter {

// At most `most` bytes of it, "..." where it is longer; '?' for what is no printable ASCII.
inline std::string printable(std::string_view text, std::size_t most) {
  std::string result(text.substr(0, most));
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  return text.size() > most ? result + "..." : result;
}

}  // namespace sinter
