// Numbers and file contents in a form that is safe to print.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace sinter {

// Drops the sign of NaN: fmt prints the processor's default NaN as "-nan".
inline double printable(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

// The first `most` bytes, with "..." if there are more; '?' replaces anything but printable ASCII.
inline std::string printable(std::string_view text, std::size_t most) {
  std::string result(text.substr(0, most));
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  return text.size() > most ? result + "..." : result;
}

}  // namespace sinter
