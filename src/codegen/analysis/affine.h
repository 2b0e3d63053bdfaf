// What the code generators know of index tiles: offsets that step evenly along rows and columns,
// and masks that are on up to a limit. Most offsets and masks never become code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/tile/program.h"

namespace sinter {

// base + row * row_step + col * col_step, each a piece of C text ("0" and "1" are recognised).
struct Affine {
  std::string base = "0";
  std::string row_step = "0";
  std::string col_step = "0";
};

// On where row < row_limit and col < col_limit; empty text: no limit along that axis.
struct PrefixMask {
  std::string row_limit;
  std::string col_limit;
  bool is_unlimited() const { return row_limit.empty() && col_limit.empty(); }
};

class IndexAnalysis {
 public:
  // `names` gives each scalar value's C text.
  IndexAnalysis(const tile::TileProgram& program, const std::vector<std::string>& names);

  const std::optional<Affine>& affine(tile::ValueId id) const {
    return affine_[static_cast<std::size_t>(id)];
  }
  const std::optional<PrefixMask>& mask(tile::ValueId id) const {
    return masks_[static_cast<std::size_t>(id)];
  }
  // A tile that is known by one of the two, so that no array is needed for it.
  bool is_index(tile::ValueId id) const;

 private:
  void visit(const tile::Instr& instr);

  const tile::TileProgram& program_;
  std::vector<std::optional<Affine>> affine_;
  std::vector<std::optional<PrefixMask>> masks_;
};

std::string add_text(const std::string& a, const std::string& b);
std::string sub_text(const std::string& a, const std::string& b);
std::string mul_text(const std::string& a, const std::string& b);

}  // namespace sinter
