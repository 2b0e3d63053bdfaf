// CpuValues: the C++ text of a tile program's values outside the loops over vectors.
// In: a TileProgram and the vector size. Out: names, scalar expressions, addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/codegen/analysis/affine.h"
#include "src/codegen/analysis/observed.h"
#include "src/codegen/analysis/schedule.h"
#include "src/codegen/c_text.h"
#include "src/codegen/value_names.h"
#include "src/tile/program.h"

namespace sinter {

struct CpuValues {
  CpuValues(const tile::TileProgram& tile_program, int vector_bytes);
  CpuValues(const CpuValues&) = delete;  // `observed` refers to `index`
  CpuValues& operator=(const CpuValues&) = delete;

  const std::string& name(tile::ValueId id) const { return names[id]; }
  std::string_view type(tile::ValueId id) const { return compute_type(program[id].dtype); }
  std::int64_t rows(tile::ValueId id) const { return program[id].shape.rows; }
  std::int64_t cols(tile::ValueId id) const { return program[id].shape.cols; }
  bool is_scalar(tile::ValueId id) const { return program[id].shape.is_scalar(); }
  bool is_row(tile::ValueId id) const { return !is_scalar(id) && cols(id) == 1; }
  const tile::BufferParam& buffer(const tile::Instr& instr) const {
    return program.buffers[instr.index];
  }
  std::string buffer_name(const tile::Instr& instr) const {
    return parameter_name(buffer(instr).name);
  }
  bool is_transposed(const tile::Instr& instr) const {
    return is_transposed_load(program, index, instr);
  }

  // Declares a scalar or row: "f32 v7", "f32 v7[4]".
  std::string variable(tile::ValueId id) const;
  // A scalar, or a row's element inside a loop over r.
  std::string scalar_operand(tile::ValueId id) const { return scalar_operand(id, names); }
  std::string scalar_expression(const tile::Instr& instr) const {
    return scalar_expression(instr, names);
  }
  // The same with other names for the operands.
  std::string scalar_expression(const tile::Instr& instr, const ValueNames& operands) const;
  // For scalars and for vectors.
  std::string cast_expression(const tile::Instr& instr, const std::string& value) const;
  // The offset at row r and column c.
  std::string offset(const Affine& affine) const { return names.text(affine, "r", "c"); }
  // Address of a load's or store's vector at row r and column c.
  std::string address(const tile::Instr& instr, const Affine& offsets) const;
  // A loop's bound: the tile's size, or the limit if that is less.
  std::string bound(const std::optional<Index>& limit, std::int64_t size) const;

  bool calls_function(const tile::Instr& instr) const;

  const tile::TileProgram& program;
  const ValueNames names;
  const IndexAnalysis index;
  const ProgramFacts facts;
  const ObservedLimits observed;
  const int lanes;  // elements per vector

 private:
  std::string scalar_operand(tile::ValueId id, const ValueNames& operands) const;
  bool is_number(tile::ValueId id) const;  // whether it is a plain number in the text
};

}  // namespace sinter
