// Symbolic index tiles: offsets that are affine in row and column, and masks that are on up to a
// limit. Most offsets and masks are never materialized.
#pragma once

#include <optional>
#include <vector>

#include "src/codegen/analysis/index.h"
#include "src/tile/program.h"

namespace sinter {

// base + row * row_step + col * col_step.
struct Affine {
  Index base;
  Index row_step;
  Index col_step;
};

// On where row < row_limit and col < col_limit; a missing limit always holds.
struct PrefixMask {
  std::optional<Index> row_limit;
  std::optional<Index> col_limit;
  bool is_unlimited() const { return !row_limit && !col_limit; }
  const std::optional<Index>& limit(tile::Axis axis) const {
    return axis == tile::Axis::rows ? row_limit : col_limit;
  }
};

class IndexAnalysis {
 public:
  explicit IndexAnalysis(const tile::TileProgram& program);

  // Every i64 scalar is affine, with only a base.
  const std::optional<Affine>& affine(tile::ValueId id) const { return affine_[id]; }
  const std::optional<PrefixMask>& mask(tile::ValueId id) const { return masks_[id]; }
  // Whether a tile is a known offset or mask, so that it needs no array.
  bool is_index(tile::ValueId id) const;

 private:
  void visit(const tile::Instr& instr);
  std::optional<Affine> affine_result(const tile::Instr& instr) const;
  std::optional<PrefixMask> mask_result(const tile::Instr& instr) const;
  std::optional<PrefixMask> joined_mask(const tile::Instr& instr) const;

  const tile::TileProgram& program_;
  ById<tile::ValueId, std::optional<Affine>> affine_;
  ById<tile::ValueId, std::optional<PrefixMask>> masks_;
};

}  // namespace sinter
