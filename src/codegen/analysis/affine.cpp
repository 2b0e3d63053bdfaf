// Symbolic arithmetic on C text with the few simplifications that matter.
#include "src/codegen/analysis/affine.h"

#include <cctype>

namespace sinter {
namespace {

// Needs no parentheses under * and binary -.
bool is_atom(const std::string& text) {
  for (char c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return true;
}

std::string wrapped(const std::string& text) { return is_atom(text) ? text : "(" + text + ")"; }

}  // namespace

std::string add_text(const std::string& a, const std::string& b) {
  if (a == "0") return b;
  return b == "0" ? a : a + " + " + b;
}

std::string sub_text(const std::string& a, const std::string& b) {
  return b == "0" ? a : a + " - " + wrapped(b);
}

std::string mul_text(const std::string& a, const std::string& b) {
  if (a == "0" || b == "0") return "0";
  if (a == "1") return b;
  return b == "1" ? a : wrapped(a) + " * " + wrapped(b);
}

IndexAnalysis::IndexAnalysis(const tile::TileProgram& program,
                             const std::vector<std::string>& names)
    : program_(program), affine_(program.values.size()), masks_(program.values.size()) {
  for (std::size_t i = 0; i < program.values.size(); ++i)
    if (program.values[i].dtype == DType::i64 && program.values[i].shape.is_scalar())
      affine_[i] = Affine{names[i], "0", "0"};
  tile::for_each_instr(program.body, [this](const tile::Instr& instr) { visit(instr); });
}

bool IndexAnalysis::is_index(tile::ValueId id) const {
  return !program_[id].shape.is_scalar() && (affine(id) || mask(id));
}

void IndexAnalysis::visit(const tile::Instr& instr) {
  if (instr.results.empty() || program_[instr.results[0]].shape.is_scalar()) return;
  const auto result = static_cast<std::size_t>(instr.results[0]);
  if (instr.code == tile::Code::arange) {
    affine_[result] =
        instr.axis == tile::Axis::rows ? Affine{"0", "1", "0"} : Affine{"0", "0", "1"};
    return;
  }
  if (instr.code != tile::Code::pointwise || instr.args.size() != 2) return;
  if (instr.op == Op::logical_and) {
    const auto& a = mask(instr.args[0]);
    const auto& b = mask(instr.args[1]);
    if (!a || !b) return;
    auto joint = [](const std::string& x, const std::string& y) { return x.empty() ? y : x; };
    if ((!a->row_limit.empty() && !b->row_limit.empty()) ||
        (!a->col_limit.empty() && !b->col_limit.empty()))
      return;
    masks_[result] = {joint(a->row_limit, b->row_limit), joint(a->col_limit, b->col_limit)};
    return;
  }
  const auto& a = affine(instr.args[0]);
  const auto& b = affine(instr.args[1]);
  if (!a || !b) return;
  const bool a_is_scalar = program_[instr.args[0]].shape.is_scalar();
  const bool b_is_scalar = program_[instr.args[1]].shape.is_scalar();
  switch (instr.op) {
    case Op::add:
      affine_[result] = {add_text(a->base, b->base), add_text(a->row_step, b->row_step),
                         add_text(a->col_step, b->col_step)};
      break;
    case Op::mul: {
      if (!a_is_scalar && !b_is_scalar) return;
      const Affine& tile = a_is_scalar ? *b : *a;
      const std::string& factor = a_is_scalar ? a->base : b->base;
      affine_[result] = {mul_text(tile.base, factor), mul_text(tile.row_step, factor),
                         mul_text(tile.col_step, factor)};
      break;
    }
    case Op::lt:
      if (!b_is_scalar) return;
      if (a->row_step == "0" && a->col_step == "1")
        masks_[result] = {"", sub_text(b->base, a->base)};
      else if (a->row_step == "1" && a->col_step == "0")
        masks_[result] = {sub_text(b->base, a->base), ""};
      break;
    default:
      break;
  }
}

}  // namespace sinter
