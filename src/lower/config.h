// Config: the choices that give one group its kernel's shape, and the heuristic that makes them
// untuned.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/machine.h"
#include "src/lower/iteration.h"
#include "src/tile/program.h"

namespace sinter {

enum class Form : std::uint8_t {
  pointwise,  // no reduction: a tile of the index space a program
  row,        // a tile holds whole rows: the reduced axis along its columns
  chunked,    // a loop over the reduced axes, the innermost of them along the tile's columns
  column,     // a loop over the reduced axes, a kept axis along the tile's columns
};

struct Config {
  Form form = Form::pointwise;
  int col_axis = -1;  // of the IterationSpace; -1: the space is one element
  int row_axis = -1;  // -1: one row a tile
  std::int64_t tile_rows = 1;
  std::int64_t tile_cols = 1;
  bool rows_first = false;  // neighbouring programs are neighbours along the row axis
  tile::Caching caching = tile::Caching::any;
  bool online = false;  // looping forms: sums of exponentials in their maximum's pass (online.h)
  tile::Mapping mapping = {};  // GPUs only
  friend bool operator==(const Config&, const Config&) = default;
};

// By the machine's kind.
Config choose_config(const IterationSpace& space, std::int64_t bytes, const Machine& machine);

std::string to_string(const Config& config);

}  // namespace sinter
