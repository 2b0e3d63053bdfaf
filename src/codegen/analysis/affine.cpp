// One pass over the instructions. Repeated reads of a parameter or of the program id count as one
// atom.
#include "src/codegen/analysis/affine.h"

#include <algorithm>
#include <map>

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::ValueId;

namespace {

// The Index of each i64 scalar: a constant, the first equal scalar, or the scalar itself.
class Scalars {
 public:
  Index index_of(ValueId id, const Instr& definition) {
    switch (definition.code) {
      case Code::constant:
        return Index(definition.integer);
      case Code::arange:
        return Index();
      case Code::scalar:
        return Index::of(parameters_.try_emplace(definition.index, id).first->second);
      case Code::program_id:
        if (program_id_ == tile::kNoValue) program_id_ = id;
        return Index::of(program_id_);
      default:
        return Index::of(id);
    }
  }

 private:
  std::map<int, ValueId> parameters_;
  ValueId program_id_ = tile::kNoValue;
};

}  // namespace

IndexAnalysis::IndexAnalysis(const tile::TileProgram& program, IndexForms forms)
    : program_(program),
      forms_(forms),
      row_atoms_(program.values.size(), 0),
      vector_atoms_(program.values.size(), 0),
      multiples_(program.values.size(), 1),
      affine_(program.values.size()),
      masks_(program.values.size()) {
  Scalars scalars;
  const auto note = [&](ValueId id, const Instr& definition) {
    if (program[id].dtype == DType::i64 && program[id].shape.is_scalar())
      affine_[id] = Affine{scalars.index_of(id, definition), {}, {}};
  };
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    for (ValueId id : instr.body_params) note(id, instr);
    for (ValueId id : instr.results) note(id, instr);
    visit(instr);
  });
}

bool IndexAnalysis::is_index(ValueId id) const {
  return !program_[id].shape.is_scalar() && (affine(id) || mask(id)) && !is_row_atom(id);
}

bool IndexAnalysis::has_atoms(const Index& index) const {
  return std::any_of(index.terms().begin(), index.terms().end(), [&](const Index::Term& term) {
    return std::any_of(term.factors.begin(), term.factors.end(),
                       [&](ValueId id) { return is_row_atom(id) || is_vector_atom(id); });
  });
}

std::optional<std::int64_t> IndexAnalysis::constant_of(ValueId id) const {
  return program_[id].shape.is_scalar() && affine(id) ? affine(id)->base.constant() : std::nullopt;
}

void IndexAnalysis::visit(const Instr& instr) {
  if (instr.results.empty()) return;
  const ValueId result = instr.results[0];
  if (instr.code == Code::scalar) multiples_[result] = program_.scalars[instr.index].multiple_of;
  if (program_[result].shape.is_scalar()) return;
  row_atoms_[result] = row_atom_divisor(instr);
  vector_atoms_[result] = makes_vector_atom(instr);
  const bool is_atom = is_row_atom(result) || is_vector_atom(result);
  affine_[result] = is_atom ? Affine{Index::of(result), {}, {}} : affine_result(instr);
  masks_[result] = mask_result(instr);
}

std::int64_t IndexAnalysis::row_atom_divisor(const Instr& instr) const {
  const bool is_atom = forms_ == IndexForms::atoms && instr.code == Code::pointwise &&
                       instr.op == Op::remainder && program_[instr.results[0]].shape.cols == 1 &&
                       program_[instr.results[0]].dtype == DType::i64 && affine(instr.args[0]);
  return is_atom ? constant_of(instr.args[1]).value_or(0) : 0;
}

std::optional<RowSkew> IndexAnalysis::row_skew(const Affine& offset) const {
  if (!has_atoms(offset.base)) return RowSkew{};
  for (const Index::Term& term : offset.base.terms())
    for (ValueId id : term.factors)
      if (is_row_atom(id) && row_atoms_[id] > 0 &&
          !has_atoms(offset.base + Index::of(id) * offset.col_step))
        return RowSkew{id, row_atoms_[id] - 1};
  return std::nullopt;
}

bool IndexAnalysis::makes_vector_atom(const Instr& instr) const {
  if (forms_ != IndexForms::atoms || instr.code != Code::pointwise || instr.op != Op::floor_div ||
      program_[instr.results[0]].shape.rows != 1 || !program_[instr.args[1]].shape.is_scalar())
    return false;
  const auto& of = affine(instr.args[0]);
  const auto& by = affine(instr.args[1]);
  return of && by && of->row_step.is_zero() && of->col_step.is_one() && !has_atoms(of->base) &&
         is_multiple_of_vector(of->base) && is_multiple_of_vector(by->base);
}

// Whether a constant factor or a parameter makes each term a multiple.
bool IndexAnalysis::is_multiple_of_vector(const Index& index) const {
  const int vector = program_.mapping.vector;
  return std::all_of(index.terms().begin(), index.terms().end(), [&](const Index::Term& term) {
    return term.coefficient % vector == 0 ||
           std::any_of(term.factors.begin(), term.factors.end(),
                       [&](ValueId id) { return multiples_[id] % vector == 0; });
  });
}

std::optional<Affine> IndexAnalysis::affine_result(const Instr& instr) const {
  if (instr.code == Code::arange)
    return instr.axis == tile::Axis::rows ? Affine{{}, Index(1), {}} : Affine{{}, {}, Index(1)};
  if (instr.code != Code::pointwise ||
      (instr.op != Op::add && instr.op != Op::sub && instr.op != Op::mul))
    return std::nullopt;
  const auto& a = affine(instr.args[0]);
  const auto& b = affine(instr.args[1]);
  if (!a || !b) return std::nullopt;
  if (instr.op == Op::add)
    return Affine{a->base + b->base, a->row_step + b->row_step, a->col_step + b->col_step};
  if (instr.op == Op::sub)
    return Affine{a->base - b->base, a->row_step - b->row_step, a->col_step - b->col_step};
  const bool a_is_scalar = program_[instr.args[0]].shape.is_scalar();
  if (!a_is_scalar && !program_[instr.args[1]].shape.is_scalar()) return std::nullopt;
  const Affine& tile = a_is_scalar ? *b : *a;
  const Index& factor = a_is_scalar ? a->base : b->base;
  return Affine{tile.base * factor, tile.row_step * factor, tile.col_step * factor};
}

std::optional<RangeMask> IndexAnalysis::mask_result(const Instr& instr) const {
  if (instr.code != Code::pointwise) return std::nullopt;
  if (instr.op == Op::logical_and) return joined_mask(instr);
  const bool has_first = instr.op == Op::ge && forms_ != IndexForms::prefixes;
  if ((instr.op != Op::lt && !has_first) || !program_[instr.args[1]].shape.is_scalar())
    return std::nullopt;
  const auto& position = affine(instr.args[0]);
  const auto& limit = affine(instr.args[1]);
  if (!position || !limit) return std::nullopt;
  const Index rest = limit->base - position->base;
  if (position->row_step.is_zero() && position->col_step.is_one())
    return has_first ? RangeMask{std::nullopt, std::nullopt, rest} : RangeMask{std::nullopt, rest};
  if (position->row_step.is_one() && position->col_step.is_zero())
    return has_first ? RangeMask{std::nullopt, std::nullopt, std::nullopt, rest}
                     : RangeMask{rest, std::nullopt};
  return std::nullopt;
}

// Fails for two bounds of the same kind along an axis: it is not known which is stricter.
std::optional<RangeMask> IndexAnalysis::joined_mask(const Instr& instr) const {
  const auto& a = mask(instr.args[0]);
  const auto& b = mask(instr.args[1]);
  if (!a || !b || (a->row_limit && b->row_limit) || (a->col_limit && b->col_limit) ||
      (a->col_first && b->col_first) || (a->row_first && b->row_first))
    return std::nullopt;
  return RangeMask{
      a->row_limit ? a->row_limit : b->row_limit, a->col_limit ? a->col_limit : b->col_limit,
      a->col_first ? a->col_first : b->col_first, a->row_first ? a->row_first : b->row_first};
}

}  // namespace sinter
