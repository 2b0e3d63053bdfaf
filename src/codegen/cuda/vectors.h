// CudaVectors: CUDA text for a thread's vectors of a tile: the loops over them, their bounds checks
// and masks, and the width of an access.
// In: a program's values. Out: text for the loads and stores of a stage.
#pragma once

#include <string>
#include <vector>

#include "src/codegen/c_writer.h"
#include "src/codegen/cuda/values.h"

namespace sinter {

// A mask on a vector: a condition for the whole vector, and the range of elements that are on.
struct VectorMask {
  std::string where;  // empty: always
  std::string count;  // exclusive end of the range; empty: all are on
  std::string first;  // empty: 0
};

class CudaVectors {
 public:
  CudaVectors(const CudaValues& values, CWriter& code)
      : values_(values), layout_(values.layout), code_(code) {}

  // Opens a loop over vectors: `begin` is the column of a vector's first element. Row loops go
  // inside it, so that operands shared by all rows are loaded once.
  void open_vectors(tile::TileShape shape) const;
  // Opens a loop over a thread's rows of a tile, or a plain block if it has only one.
  void open_rows(tile::TileShape shape) const;
  // Opens a loop over a vector's elements: `col` is an element's column.
  void open_vector() const;

  // Conditions for a vector to lie inside the tile; empty: it always does.
  std::vector<std::string> inside(tile::TileShape shape) const;
  // `conditions` are checked before the mask.
  VectorMask mask(tile::ValueId mask_id, std::vector<std::string> conditions) const;
  // Number of elements per access.
  int pack_width(const tile::Instr& instr) const;
  // The same for a load; 1 if it is to be put together from the packs around it.
  int load_width(const tile::Instr& load) const;

  static std::string all_of(const std::vector<std::string>& conditions);

 private:
  // Where a row begins and ends, counted from the vector's first element.
  std::string first_text(tile::TileShape shape, const Index& first) const;
  std::string count_text(tile::TileShape shape, const Index& limit) const;

  const CudaValues& values_;
  const tile::ThreadLayout& layout_;
  CWriter& code_;
};

}  // namespace sinter
