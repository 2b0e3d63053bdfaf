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

Divisibility::Divisibility(const tile::TileProgram& program)
    : program_(program), multiples_(program.values.size(), 1) {
  tile::for_each_instr(program.body, [&](const Instr& instr) {
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

int Divisibility::of(const Affine& offset, tile::Axis along) const {
  const Index& across = along == tile::Axis::cols ? offset.row_step : offset.col_step;
  return std::min(of(offset.base), of(across));
}

int Divisibility::of(const PrefixMask& mask) const {
  return mask.col_limit ? of(*mask.col_limit) : kMost;
}

}  // namespace sinter
