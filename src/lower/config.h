// Config: the choices that determine one group's kernel. Every kernel family (family.h) has its own
// struct; a Config is a variant of them.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <variant>

#include "src/base/fields.h"
#include "src/tile/program.h"

namespace sinter {

// How a loop nest is cut into tiles. Axes are indices into IterationSpace::axes.
struct Tiling {
  int col_axis = -1;  // along the tile's columns; -1: the space is one element
  int row_axis = -1;  // -1: a tile has one row
  std::int64_t tile_rows = 1;
  std::int64_t tile_cols = 1;
  bool rows_first = false;  // consecutive programs are adjacent along the row axis
  // An index into IterationSpace::accesses: each row's columns are cut where this access reaches a
  // multiple of the vector, so that its vectors are aligned. -1: columns are cut from the row's
  // first element on.
  int aligned_to = -1;
  // A tile's rows are as long as its columns and follow each other in memory without gaps. The
  // kernel is compiled for that length and moves a tile as one run.
  bool dense_rows = false;
  tile::Caching caching = tile::Caching::any;
  tile::Mapping mapping = {};  // GPUs only
  friend bool operator==(const Tiling&, const Tiling&) = default;
};
constexpr auto fields_of(const Tiling*) {
  return std::tuple{
      key_field("col_axis", &Tiling::col_axis),     key_field("row_axis", &Tiling::row_axis),
      key_field("tile_rows", &Tiling::tile_rows),   key_field("tile_cols", &Tiling::tile_cols),
      key_field("rows_first", &Tiling::rows_first), key_field("aligned_to", &Tiling::aligned_to),
      key_field("dense_rows", &Tiling::dense_rows), key_field("caching", &Tiling::caching),
      key_field("mapping", &Tiling::mapping)};
}
static_assert(kListsEveryField<Tiling>);

// The extent of columns to cut into tiles: with aligned vectors, a row's first one begins up to a
// vector before the row.
inline std::int64_t cut_columns(const Tiling& tiling, std::int64_t size) {
  return tiling.aligned_to < 0 ? size : size + tiling.mapping.vector - 1;
}

// A call of the machine's matmul library, which picks its own kernel.
struct LibraryConfig {
  friend bool operator==(const LibraryConfig&, const LibraryConfig&) = default;
};

// A matrix product: each program computes a tile of the result, with a loop over the summed axis.
struct MatmulConfig {
  Tiling tiling;
  friend bool operator==(const MatmulConfig&, const MatmulConfig&) = default;
};

// No reductions: each program computes one tile of the index space.
struct PointwiseConfig {
  Tiling tiling;
  bool flat_rows = false;  // the tiling is of with_flat_rows() (iteration.h)
  friend bool operator==(const PointwiseConfig&, const PointwiseConfig&) = default;
};

// Each program holds whole rows: the reduced axis lies along the tile's columns.
struct RowConfig {
  Tiling tiling;
  friend bool operator==(const RowConfig&, const RowConfig&) = default;
};

// A loop over the reduced axes, with a kept axis along the tile's columns.
struct ColumnConfig {
  Tiling tiling;
  bool online = false;  // compute softmax sums in the same pass as their maximum (online.h)
  friend bool operator==(const ColumnConfig&, const ColumnConfig&) = default;
};

// A loop over the reduced axes, with a chunk of the innermost one along the tile's columns.
struct ChunkedConfig {
  Tiling tiling;
  bool online = false;
  friend bool operator==(const ChunkedConfig&, const ChunkedConfig&) = default;
};

// In the order in which families are tried.
using Config = std::variant<LibraryConfig, MatmulConfig, PointwiseConfig, RowConfig, ColumnConfig,
                            ChunkedConfig>;

// Asserts that the config has a tiling: all but LibraryConfig do.
const Tiling& tiling_of(const Config& config);
Tiling& tiling_of(Config& config);
bool is_online(const Config& config);

std::string to_string(const Config& config);  // "row (1, 4096), 128 threads, .."

}  // namespace sinter
