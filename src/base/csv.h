// Text in a file of comma-separated values.
#pragma once

#include <string>

namespace sinter {

// In quotes where it has to be, with its own doubled.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char each : text) {
    if (each == '"') quoted += '"';
    quoted += each;
  }
  return quoted + "\"";
}

}  // namespace sinter
