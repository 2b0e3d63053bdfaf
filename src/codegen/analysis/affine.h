// Symbolic index tiles: offsets that are affine in row and column, and masks that are on in a
// range. Most offsets and masks are never materialized.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/codegen/analysis/index.h"
#include "src/tile/program.h"

namespace sinter {

// base + row * row_step + col * col_step. The base may contain row and vector atoms (see
// IndexAnalysis).
struct Affine {
  Index base;
  Index row_step;
  Index col_step;
};

// On where row_first <= row < row_limit and col_first <= col < col_limit; a missing bound always
// holds.
struct RangeMask {
  std::optional<Index> row_limit;
  std::optional<Index> col_limit;
  std::optional<Index> col_first = {};
  std::optional<Index> row_first = {};
  bool is_unlimited() const { return !row_limit && !col_limit && !has_first(); }
  bool has_first() const { return col_first || row_first; }
  const std::optional<Index>& limit(tile::Axis axis) const {
    return axis == tile::Axis::rows ? row_limit : col_limit;
  }
};

// Columns that are cut at multiples of the vector: those of a row are moved left by `by`, a row
// atom from 0 to `most`.
struct RowSkew {
  tile::ValueId by = tile::kNoValue;  // kNoValue: rows are not moved
  std::int64_t most = 0;
};

// What the analysis may find.
enum class IndexForms : std::uint8_t {
  prefixes,  // no masks with a first row or column, no atoms
  ranges,    // masks with a first row or column
  atoms,     // ranges; remainders of rows by a constant, and quotients that are the same for all
             // columns of a vector, as atoms of an Index
};

class IndexAnalysis {
 public:
  explicit IndexAnalysis(const tile::TileProgram& program, IndexForms forms = IndexForms::prefixes);

  // Every i64 scalar is affine, with only a base.
  const std::optional<Affine>& affine(tile::ValueId id) const { return affine_[id]; }
  const std::optional<RangeMask>& mask(tile::ValueId id) const { return masks_[id]; }
  IndexForms forms() const { return forms_; }
  // Whether a tile is a known offset or mask, so that it needs no array.
  bool is_index(tile::ValueId id) const;
  // Whether a (rows, 1) tile is computed as a variable that index expressions refer to.
  bool is_row_atom(tile::ValueId id) const { return row_atoms_[id] != 0; }
  // Whether a (1, cols) tile is a column's quotient by a multiple of the vector: index expressions
  // spell it out where a vector begins.
  bool is_vector_atom(tile::ValueId id) const { return vector_atoms_[id] != 0; }
  bool has_atoms(const Index& index) const;  // of either kind
  // How an offset's rows are moved; nothing if it has other atoms.
  std::optional<RowSkew> row_skew(const Affine& offset) const;

 private:
  void visit(const tile::Instr& instr);
  std::optional<std::int64_t> constant_of(tile::ValueId id) const;
  std::int64_t row_atom_divisor(const tile::Instr& instr) const;
  bool makes_vector_atom(const tile::Instr& instr) const;
  bool is_multiple_of_vector(const Index& index) const;
  std::optional<Affine> affine_result(const tile::Instr& instr) const;
  std::optional<RangeMask> mask_result(const tile::Instr& instr) const;
  std::optional<RangeMask> joined_mask(const tile::Instr& instr) const;

  const tile::TileProgram& program_;
  const IndexForms forms_;
  ById<tile::ValueId, std::int64_t> row_atoms_;  // what they are remainders by; 0: not an atom
  ById<tile::ValueId, char> vector_atoms_;
  ById<tile::ValueId, int> multiples_;  // of scalar parameters: what divides them
  ById<tile::ValueId, std::optional<Affine>> affine_;
  ById<tile::ValueId, std::optional<RangeMask>> masks_;
};

}  // namespace sinter
