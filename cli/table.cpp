// Column widths come from the longest text; colour codes wrap the padded text.
#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::cli {
namespace {

std::string padded(const std::string& text, std::size_t width, bool left) {
  return left ? fmt::format("{:<{}}", text, width) : fmt::format("{:>{}}", text, width);
}

}  // namespace

std::string table_text(const std::vector<Column>& columns,
                       const std::vector<std::vector<Cell>>& rows, std::FILE* stream) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    widths.push_back(columns[c].title.size());
    for (const auto& row : rows) widths[c] = std::max(widths[c], row[c].text.size());
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Cell cell = cell_of(c);
      if (c) line += "  ";
      line += coloured(padded(cell.text, widths[c], columns[c].left), cell.colour, stream);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](std::size_t c) { return Cell{columns[c].title, Colour::dim}; });
  for (const auto& row : rows) add_line([&](std::size_t c) { return row[c]; });
  return text;
}

}  // namespace sinter::cli
