// Properties of the output: colours and a moving progress line on a terminal, plain lines
// elsewhere.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace sinter::cli {

bool is_terminal(std::FILE* stream);
// In columns: COLUMNS, else the terminal's width, else 80.
int terminal_width(std::FILE* stream);

enum class Colour { none, red, green, yellow, dim };

// Coloured text; unchanged if `stream` is not a terminal or NO_COLOR is set.
std::string coloured(std::string_view text, Colour colour, std::FILE* stream);

// "850 ms", "12 s", "3 min 20 s"
std::string duration_text(double seconds);
// "1.5 MB"
std::string bytes_text(double bytes);

}  // namespace sinter::cli
