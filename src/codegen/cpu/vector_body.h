// VectorBody: renders one body of a loop over column vectors.
// In: element instructions. Out: lines of C++, one for each value computed, loaded or stored.
#pragma once

#include <map>
#include <string>

#include "src/codegen/analysis/affine.h"
#include "src/codegen/c_writer.h"
#include "src/codegen/cpu/scratch.h"
#include "src/codegen/cpu/values.h"

namespace sinter {

// The active lanes of the vectors: all, or the first n (`n` and the mask `lanes` in the text).
enum class Lanes { all, first_n };

class VectorBody {
 public:
  // `limits`: the limits that the bounds of the enclosing loops enforce.
  VectorBody(const CpuValues& values, ScratchTiles& scratch, CWriter& code, const RangeMask& limits,
             Lanes lanes)
      : values_(values), scratch_(scratch), code_(code), limits_(limits), lanes_(lanes) {}

  Lanes lanes() const { return lanes_; }

  // Computes an instruction's result into a variable.
  void define(const tile::Instr& instr);
  std::string operand(tile::ValueId id);
  void store(const tile::Instr& instr);

 private:
  std::string expression(const tile::Instr& instr);
  std::string index_vector(const Affine& affine, DType dtype) const;
  std::string cast(const tile::Instr& instr);
  std::string pointwise(const tile::Instr& instr);
  std::string transposed(const tile::Instr& load);
  std::string load(const tile::Instr& instr);
  std::string load(const tile::Instr& instr, const std::string& on, const std::string& other);
  std::string load_in_range(const tile::Instr& instr, const std::string& other) const;
  std::string row_condition(const RangeMask& mask) const;
  std::string mask(tile::ValueId id);
  std::string enabled_lanes(const std::string& mask) const;

  const CpuValues& values_;
  ScratchTiles& scratch_;
  CWriter& code_;
  const RangeMask& limits_;
  const Lanes lanes_;
  std::map<tile::ValueId, std::string> variables_;  // values computed in this body
};

}  // namespace sinter
