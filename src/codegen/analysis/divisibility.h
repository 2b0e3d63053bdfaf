// Divisibility: powers of two that divide a program's offsets and limits, so that neighbours can be
// read and written together. In: a program whose scalars say what divides them.
#pragma once

#include <vector>

#include "src/codegen/analysis/affine.h"
#include "src/tile/program.h"

namespace sinter {

class Divisibility {
 public:
  Divisibility(const tile::TileProgram& program, const IndexAnalysis& index,
               tile::Axis along = tile::Axis::cols);

  // Of an offset: divides it wherever the column (or row, along that axis) is a multiple of kMost.
  // Of a mask: the columns at which it turns off are multiples of it.
  int of(tile::ValueId id) const { return multiples_[static_cast<std::size_t>(id)]; }

  static constexpr int kMost = 16;

 private:
  int result_of(const tile::Instr& instr, const IndexAnalysis& index) const;

  const tile::TileProgram& program_;
  const tile::Axis along_;
  std::vector<int> multiples_;
};

}  // namespace sinter
