// A text table with aligned columns, text to the left, numbers to the right.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace sinter::cli {

struct Cell {
  std::string text;
  Colour colour = Colour::none;
};

struct Column {
  std::string title;
  bool left = false;
};

// Ends with a newline.
std::string table_text(const std::vector<Column>& columns,
                       const std::vector<std::vector<Cell>>& rows, std::FILE* stream);

}  // namespace sinter::cli
