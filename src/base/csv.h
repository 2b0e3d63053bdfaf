// Formatting of CSV cells.
#pragma once

#include <string>

namespace sinter {

// Quotes the text if needed, doubling its quotes.
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
