// Divisibility: powers of two that divide a program's offsets and limits, which permit vector loads
// and stores. In: a program whose scalars declare their divisors (ScalarParam::multiple_of).
// A remainder by a power of two is known, too: x - x % 8 is a multiple of 8.
#pragma once

#include <map>

#include "src/codegen/analysis/affine.h"
#include "src/tile/program.h"

namespace sinter {

class Divisibility {
 public:
  Divisibility(const tile::TileProgram& program, const IndexAnalysis& index);

  int of(const Index& index) const;
  // A divisor of the offset at every column (or row, by `along`) that is a multiple of kMost.
  int of(const Affine& offset, tile::Axis along = tile::Axis::cols) const;
  // A divisor of the columns at which the mask turns on and off.
  int of(const RangeMask& mask) const;

  static constexpr int kMost = 16;

 private:
  // The remainder of `of` by `divisor`, a power of two.
  struct Remainder {
    Affine of;
    int divisor = 1;
  };

  int of(tile::ValueId scalar) const { return multiples_[scalar]; }
  int result_of(const tile::Instr& instr) const;
  void note_remainder(const tile::Instr& instr, const IndexAnalysis& index);

  const tile::TileProgram& program_;
  std::map<tile::ValueId, Remainder> remainders_;
  ById<tile::ValueId, int> multiples_;  // divisors of i64 scalars
};

}  // namespace sinter
