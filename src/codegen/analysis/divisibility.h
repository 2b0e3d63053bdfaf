// Divisibility: powers of two that divide a program's offsets and limits, so that neighbours can be
// read and written together. In: a program whose scalars say what divides them.
#pragma once

#include <vector>

#include "src/codegen/analysis/affine.h"
#include "src/tile/program.h"

namespace sinter {

class Divisibility {
 public:
  explicit Divisibility(const tile::TileProgram& program);

  int of(const Index& index) const;
  // Divides the offset wherever the column (or row, along that axis) is a multiple of kMost.
  int of(const Affine& offset, tile::Axis along = tile::Axis::cols) const;
  // The columns at which the mask turns off are multiples of it.
  int of(const PrefixMask& mask) const;

  static constexpr int kMost = 16;

 private:
  int of(tile::ValueId scalar) const { return multiples_[scalar]; }
  int result_of(const tile::Instr& instr) const;

  const tile::TileProgram& program_;
  ById<tile::ValueId, int> multiples_;  // of i64 scalars
};

}  // namespace sinter
