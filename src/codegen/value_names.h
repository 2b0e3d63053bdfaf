// ValueNames: what a program's values are called in the text of every dialect, and index
// expressions written with these names. Constants are written where they are used, parameters keep
// their names, and a loop's results are the variables it carried.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/codegen/analysis/affine.h"
#include "src/codegen/index_text.h"
#include "src/tile/program.h"

namespace sinter {

// In which dialects differ.
struct IndexDialect {
  std::string_view long_suffix;  // of numbers whose products need 64 bits
  // Rows and columns are converted to this type before they are multiplied; empty: they have it.
  std::string_view product_type;
};

// A parameter's name in the text. No name of a dialect or its vocabulary ends in an underscore, so
// authors may call a parameter what they like.
std::string parameter_name(const std::string& name);

class ValueNames {
 public:
  ValueNames(const tile::TileProgram& program, IndexDialect dialect);

  const std::string& operator[](tile::ValueId id) const { return names_[id]; }
  void rename(tile::ValueId id, std::string name) { names_[id] = std::move(name); }

  std::string text(const Index& index) const { return index_text(index, spelling()); }
  // The offset at `row` and `col`, two pieces of text.
  std::string text(const Affine& offset, std::string_view row, std::string_view col) const;

 private:
  std::string name_of(const tile::TileProgram& program, const tile::Instr& instr,
                      std::size_t result) const;
  std::string number(std::int64_t value) const;
  IndexSpelling spelling() const;

  IndexDialect dialect_;
  ById<tile::ValueId, std::string> names_;
};

}  // namespace sinter
