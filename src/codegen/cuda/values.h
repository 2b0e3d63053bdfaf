// CudaValues: the CUDA text of a tile program's values. In: a TileProgram. Out: names, types,
// expressions of scalars and of rows, conditions and addresses.
// Element text assumes loops that define `r` (a thread's row step), `row`, `k`, `v` and `col`;
// tile::ThreadLayout defines their meaning.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/codegen/analysis/affine.h"
#include "src/codegen/analysis/divisibility.h"
#include "src/codegen/analysis/index_bounds.h"
#include "src/codegen/analysis/schedule.h"
#include "src/codegen/c_text.h"
#include "src/codegen/cuda/layout.h"
#include "src/codegen/value_names.h"
#include "src/tile/program.h"

namespace sinter {

// Scalars that divide the program id or indices: their inverses are part of the kernel's argument.
struct CudaDivisors {
  std::vector<int> scalars;
  std::map<tile::ValueId, int> of;  // from a quotient to its divisor
};

struct CudaValues {
  explicit CudaValues(const tile::TileProgram& tile_program);

  const std::string& name(tile::ValueId id) const { return names[id]; }
  tile::TileShape shape(tile::ValueId id) const { return program[id].shape; }
  bool is_scalar(tile::ValueId id) const { return shape(id).is_scalar(); }
  bool is_row(tile::ValueId id) const { return !is_scalar(id) && shape(id).cols == 1; }
  const tile::BufferParam& buffer(const tile::Instr& instr) const {
    return program.buffers[instr.index];
  }
  std::string buffer_name(const tile::Instr& instr) const;

  // An i64 value computed by index arithmetic alone: it has type idx in the text.
  bool is_offset(tile::ValueId id) const { return offset_like[id]; }
  std::string_view type(tile::ValueId id) const;

  // "v7", or "v7[r]" if a thread has several rows.
  std::string row_variable(tile::ValueId id) const;
  // Declares a thread's elements of a row or tile: "f32 v7[8]".
  std::string declaration(tile::ValueId id) const;
  // The same for a load's elements in storage format: "Packed<f16, 8> v7[2]".
  std::string packed_type(const tile::Instr& load) const;
  std::string packed_declaration(const tile::Instr& load) const;
  // Index of the current vector's first element, and of the current element, in a thread's array;
  // and the number of the current vector.
  std::string vector_index(tile::ValueId id) const;
  std::string element_index(tile::ValueId id) const;
  std::string vector_number(tile::ValueId id) const;

  // A scalar or row as a data operand; i64 stays i64 (not idx).
  std::string operand(tile::ValueId id) const;
  // The value of a scalar or row instruction.
  std::string expression(const tile::Instr& instr) const;
  // The same with given operand texts.
  std::string expression(const tile::Instr& instr, std::vector<std::string> operands) const;
  std::string index_remainder(const tile::Instr& instr) const;
  std::string load_text(const tile::Instr& instr, const std::string& offset) const;
  std::string inverse_name(int scalar) const;

  // The offset in the thread's row, at column `col`.
  std::string offset(const Affine& affine, std::string_view col) const {
    return names.text(affine, "row", col);
  }
  // The mask in the thread's row, at column `col`, without parentheses; empty: always on.
  std::string condition(const RangeMask& mask, std::string_view col) const;
  // A power of two that divides a load's or store's offsets along an axis.
  int offset_multiple(const tile::Instr& instr, tile::Axis along = tile::Axis::cols) const {
    return divisibility.of(*index.affine(instr.args[0]), along);
  }

  const tile::TileProgram& program;
  const tile::ThreadLayout layout;
  const IndexAnalysis index;
  const ProgramFacts facts;
  const CudaDivisors divisors;
  const ValueNames names;
  const ById<tile::ValueId, char> offset_like;
  const Divisibility divisibility;
  const IndexBounds bounds;
};

}  // namespace sinter
