// ValueNames: the names of a program's values in the text of every dialect, and index expressions
// written with these names. Constants are written inline, parameters keep their names, and a loop's
// results are the variables it carried.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/codegen/analysis/affine.h"
#include "src/codegen/index_text.h"
#include "src/tile/program.h"

namespace sinter {

// How dialects spell index arithmetic.
struct IndexDialect {
  std::string_view long_suffix;  // for numbers whose products need 64 bits
  // Rows and columns are cast to this type before multiplying; empty: they already have it.
  std::string_view product_type;
};

// A parameter's name in the text, with a trailing underscore. No name in the dialects' headers ends
// in an underscore, so authors may name parameters freely.
std::string parameter_name(const std::string& name);

class ValueNames {
 public:
  ValueNames(const tile::TileProgram& program, IndexDialect dialect);

  const std::string& operator[](tile::ValueId id) const { return names_[id]; }
  void rename(tile::ValueId id, std::string name) { names_[id] = std::move(name); }
  // How index expressions spell the value, if not by its name.
  void spell_in_indices(tile::ValueId id, std::string text) { spelled_[id] = std::move(text); }

  std::string text(const Index& index) const { return index_text(index, spelling()); }
  // The offset at `row` and `col`, which are C expressions.
  std::string text(const Affine& offset, std::string_view row, std::string_view col) const;

 private:
  std::string name_of(const tile::TileProgram& program, const tile::Instr& instr,
                      std::size_t result) const;
  std::string number(std::int64_t value) const;
  IndexSpelling spelling() const;

  IndexDialect dialect_;
  ById<tile::ValueId, std::string> names_;
  std::map<tile::ValueId, std::string> spelled_;
};

}  // namespace sinter
