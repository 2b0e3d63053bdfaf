// One pass over the instructions for the scalars in index expressions; anything unknown counts as a
// multiple of 1.
#include "src/codegen/analysis/divisibility.h"

#include <algorithm>

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::ValueId;

namespace {

int largest_power(std::int64_t value) {
  int power = 1;
  while (power < Divisibility::kMost && value % (2 * power) == 0) power *= 2;
  return power;
}

}  // namespace

Divisibility::Divisibility(const tile::TileProgram& program, const IndexAnalysis& index)
    : program_(program), multiples_(program.values.size(), 1) {
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    note_remainder(instr, index);
    // A loop's counter is set before its body is visited; carried values stay unknown.
    if (instr.code == Code::loop)
      multiples_[instr.body_params[0]] = std::min(of(instr.args[0]), of(instr.args[2]));
    else if (!instr.results.empty() && program[instr.results[0]].shape.is_scalar())
      multiples_[instr.results[0]] = result_of(instr);
  });
}

int Divisibility::result_of(const Instr& instr) const {
  switch (instr.code) {
    case Code::constant:
      return largest_power(instr.integer);
    case Code::arange:
      return kMost;
    case Code::scalar:
      return std::min(kMost, program_.scalars[instr.index].multiple_of);
    case Code::pointwise:
      break;
    default:
      return 1;
  }
  switch (instr.op) {
    case Op::add:
    case Op::sub:
    case Op::minimum:
    case Op::maximum:
      return std::min(of(instr.args[0]), of(instr.args[1]));
    case Op::mul:
      return std::min(kMost, of(instr.args[0]) * of(instr.args[1]));
    default:
      return 1;
  }
}

int Divisibility::of(const Index& index) const {
  int least = kMost;
  for (const Index::Term& term : index.terms()) {
    int multiple = largest_power(term.coefficient);
    for (ValueId factor : term.factors) multiple = std::min(kMost, multiple * of(factor));
    least = std::min(least, multiple);
  }
  return least;
}

void Divisibility::note_remainder(const Instr& instr, const IndexAnalysis& index) {
  if (instr.code != Code::pointwise || instr.op != Op::remainder ||
      program_[instr.results[0]].dtype != DType::i64)
    return;
  const auto& of = index.affine(instr.args[0]);
  const auto& by = index.affine(instr.args[1]);
  const auto divisor = by ? by->base.constant() : std::nullopt;
  if (!of || !divisor || *divisor <= 0 || (*divisor & (*divisor - 1)) != 0) return;
  remainders_[instr.results[0]] = {*of, static_cast<int>(std::min<std::int64_t>(*divisor, kMost))};
}

// Modulo the divisor a remainder equals the value it is of.
int Divisibility::of(const Affine& offset, tile::Axis along) const {
  const Index& across = along == tile::Axis::cols ? offset.row_step : offset.col_step;
  const int plain = std::min(of(offset.base), of(across));
  if (along != tile::Axis::cols || remainders_.empty()) return plain;
  for (const Index::Term& term : offset.base.terms()) {
    if (term.coefficient != -1 || term.factors.size() != 1) continue;
    const auto found = remainders_.find(term.factors[0]);
    if (found == remainders_.end()) continue;
    const auto& [whole, divisor] = found->second;
    const Index base = offset.base + Index::of(found->first) - whole.base;
    return std::max(plain, std::min({divisor, of(base), of(across - whole.row_step)}));
  }
  return plain;
}

int Divisibility::of(const RangeMask& mask) const {
  return std::min(mask.col_limit ? of(*mask.col_limit) : kMost,
                  mask.col_first ? of(*mask.col_first) : kMost);
}

}  // namespace sinter
