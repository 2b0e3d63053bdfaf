// CudaValues: what stands for a tile program's values in CUDA text. In: a TileProgram. Out: names,
// types, expressions of scalars and of rows, conditions and addresses.
// Text about a tile's element is written for loops that define `r` (a thread's row step), `row`,
// `k`, `v` and `col`; see tile::ThreadLayout for what they mean.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/codegen/analysis/affine.h"
#include "src/codegen/analysis/divisibility.h"
#include "src/codegen/analysis/schedule.h"
#include "src/codegen/c_text.h"
#include "src/codegen/cuda/layout.h"
#include "src/codegen/value_names.h"
#include "src/tile/program.h"

namespace sinter {

// Scalars that programs' numbers are divided by: their inverses are part of the argument.
struct CudaDivisors {
  std::vector<int> scalars;
  std::map<tile::ValueId, int> of;  // by quotient
};

struct CudaValues {
  explicit CudaValues(const tile::TileProgram& tile_program);

  const std::string& name(tile::ValueId id) const { return names[id]; }
  tile::TileShape shape(tile::ValueId id) const { return program[id].shape; }
  bool is_scalar(tile::ValueId id) const { return shape(id).is_scalar(); }
  bool is_row(tile::ValueId id) const { return !is_scalar(id) && shape(id).cols == 1; }
  const tile::BufferParam& buffer(const tile::Instr& instr) const {
    return program.buffers[static_cast<std::size_t>(instr.index)];
  }
  std::string buffer_name(const tile::Instr& instr) const;

  // An i64 scalar that only offsets and limits are made of: idx in the text.
  bool is_offset(tile::ValueId id) const { return offset_like[id]; }
  std::string_view type(tile::ValueId id) const;

  // "v7" or, where a thread has several rows, "v7[r]".
  std::string row_variable(tile::ValueId id) const;
  // A declaration of what a thread holds of a row or tile: "f32 v7[8]".
  std::string declaration(tile::ValueId id) const;
  // Of a load's elements, as they lie in memory: "Packed<f16, 8> v7[2]".
  std::string packed_type(const tile::Instr& load) const;
  std::string packed_declaration(const tile::Instr& load) const;
  // Where a tile's vector, and its element, lie in the array of a thread's elements; and which of
  // its vectors it is.
  std::string vector_index(tile::ValueId id) const;
  std::string element_index(tile::ValueId id) const;
  std::string vector_number(tile::ValueId id) const;

  // Scalars and rows as an operand of data; i64 stays i64.
  std::string operand(tile::ValueId id) const;
  // The value of a scalar or row instruction.
  std::string expression(const tile::Instr& instr) const;
  // With the operands' texts given.
  std::string expression(const tile::Instr& instr, std::vector<std::string> operands) const;
  std::string load_text(const tile::Instr& instr, const std::string& offset) const;
  std::string inverse_name(int scalar) const;

  // The offset in the thread's row, at column `col`.
  std::string offset(const Affine& affine, std::string_view col) const {
    return names.text(affine, "row", col);
  }
  // The mask there, without parentheses; empty: always on.
  std::string condition(const PrefixMask& mask, std::string_view col) const;
  // What divides a load's or store's offsets along an axis.
  int offset_multiple(const tile::Instr& instr, tile::Axis along = tile::Axis::cols) const {
    return divisibility.of(*index.affine(instr.args[0]), along);
  }

  const tile::TileProgram& program;
  const tile::ThreadLayout layout;
  const ValueNames names;
  const ById<tile::ValueId, char> offset_like;
  const IndexAnalysis index;
  const ProgramFacts facts;
  const Divisibility divisibility;
  const CudaDivisors divisors;
};

}  // namespace sinter
