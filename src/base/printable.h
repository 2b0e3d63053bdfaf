// Numbers, and text of files, as people and terminals can bear them.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace sinter {

// The same number, but a NaN has no sign: fmt prints that of the processor's own NaN as "-nan".
inline double printable(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

// At most `most` bytes of the text, "..." where it is longer; '?' for what is no printable ASCII.
inline std::string printable(std::string_view text, std::size_t most) {
  std::string result(text.substr(0, most));
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  return text.size() > most ? result + "..." : result;
}

}  // namespace sinter
