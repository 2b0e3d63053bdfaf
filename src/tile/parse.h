// Parses tile programs: parse_tile_program() reads the output of to_string(TileProgram) and
// handwritten programs. docs/TEXT.md describes the format. Every mistake is a UserError with its
// line and column; the returned program passes verify().
#pragma once

#include <string_view>
#include <vector>

#include "src/tile/program.h"

namespace sinter::tile {

// `file` is named in errors.
TileProgram parse_tile_program(std::string_view text, std::string_view file = {});
// Parses several kernels in sequence, as `sinter dump --stage tile` prints them.
std::vector<TileProgram> parse_tile_programs(std::string_view text, std::string_view file = {});

}  // namespace sinter::tile
