// Divisibility: powers of two that divide a program's offsets and limits, which permit vector loads
// and stores. In: a program whose scalars declare their divisors (ScalarParam::multiple_of).
#pragma once

#include <vector>

#include "src/codegen/analysis/affine.h"
#include "src/tile/program.h"

namespace sinter {

class Divisibility {
 public:
  explicit Divisibility(const tile::TileProgram& program);

  int of(const Index& index) const;
  // A divisor of the offset at every column (or row, by `along`) that is a multiple of kMost.
  int of(const Affine& offset, tile::Axis along = tile::Axis::cols) const;
  // A divisor of the column at which the mask turns off.
  int of(const PrefixMask& mask) const;

  static constexpr int kMost = 16;

 private:
  int of(tile::ValueId scalar) const { return multiples_[scalar]; }
  int result_of(const tile::Instr& instr) const;

  const tile::TileProgram& program_;
  ById<tile::ValueId, int> multiples_;  // divisors of i64 scalars
};

}  // namespace sinter
