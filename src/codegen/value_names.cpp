// Values without a special rule are named by their number.
#include "src/codegen/value_names.h"

#include <fmt/format.h>

#include "src/codegen/c_text.h"

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::TileProgram;
using tile::ValueId;

std::string parameter_name(const std::string& name) { return name + "_"; }

ValueNames::ValueNames(const TileProgram& program, IndexDialect dialect) : dialect_(dialect) {
  for (std::size_t i = 0; i < program.values.size(); ++i) names_.push_back(fmt::format("v{}", i));
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    for (std::size_t i = 0; i < instr.results.size(); ++i)
      rename(instr.results[i], name_of(program, instr, i));
  });
}

std::string ValueNames::name_of(const TileProgram& program, const Instr& instr,
                                std::size_t result) const {
  const ValueId id = instr.results[result];
  const DType dtype = program[id].dtype;
  switch (instr.code) {
    case Code::constant:
      return dtype == DType::i64 && instr.integer >= 0 ? number(instr.integer)
                                                       : literal(instr, dtype);
    case Code::arange:
      return program[id].shape.is_scalar() ? number(0) : (*this)[id];
    case Code::scalar:
      return parameter_name(program.scalars[instr.index].name);
    case Code::program_id:
      return "program";
    case Code::loop:
      return (*this)[instr.body_params[result + 1]];
    default:
      return (*this)[id];
  }
}

// Numbers without a suffix are small enough that the product of two does not overflow an int.
std::string ValueNames::number(std::int64_t value) const {
  return fmt::format("{}{}", value, value < (1 << 15) ? "" : dialect_.long_suffix);
}

IndexSpelling ValueNames::spelling() const {
  return {[this](ValueId id) {
            const auto spelled = spelled_.find(id);
            return spelled == spelled_.end() ? (*this)[id] : spelled->second;
          },
          [this](std::int64_t value) { return number(value); }};
}

std::string ValueNames::text(const Affine& offset, std::string_view row,
                             std::string_view col) const {
  std::string text = offset.base.is_zero() ? "" : this->text(offset.base);
  const auto add = [&](std::string_view place, const Index& step) {
    if (step.is_zero()) return;
    if (!text.empty()) text += " + ";
    if (step.is_one()) {
      text += place;
      return;
    }
    text += dialect_.product_type.empty() ? std::string(place)
                                          : fmt::format("{}({})", dialect_.product_type, place);
    text += " * " + factor_text(step, spelling());
  };
  add(row, offset.row_step);
  add(col, offset.col_step);
  return text.empty() ? number(0) : text;
}

}  // namespace sinter
