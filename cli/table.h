// A text table with aligned columns: the first ones to the left, numbers to the right.
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

// The last line ends with a newline too.
std::string table_text(const std::vector<Column>& columns,
                       const std::vector<std::vector<Cell>>& rows, std::FILE* stream);

}  // namespace sinter::cli
