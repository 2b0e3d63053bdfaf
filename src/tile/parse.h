// Tile programs as text: parse_tile_program() reads what to_string(TileProgram) prints, and what
// people write. docs/TEXT.md describes the format. Every mistake is a UserError with its line and
// column; what is returned passes verify().
#pragma once

#include <string_view>
#include <vector>

#include "src/tile/program.h"

namespace sinter::tile {

// `file` is named in errors.
TileProgram parse_tile_program(std::string_view text, std::string_view file = {});
// One kernel after another, as `sinter dump --stage tile` prints them.
std::vector<TileProgram> parse_tile_programs(std::string_view text, std::string_view file = {});

}  // namespace sinter::tile
