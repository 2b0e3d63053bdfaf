// One pass over the instructions; what is not understood is a multiple of 1.
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

Divisibility::Divisibility(const tile::TileProgram& program, const IndexAnalysis& index,
                           tile::Axis along)
    : program_(program), along_(along), multiples_(program.values.size(), 1) {
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    // A loop's counter comes before its body; what it carries stays unknown.
    if (instr.code == Code::loop)
      multiples_[static_cast<std::size_t>(instr.body_params[0])] =
          std::min(of(instr.args[0]), of(instr.args[2]));
    else if (!instr.results.empty())
      multiples_[static_cast<std::size_t>(instr.results[0])] = result_of(instr, index);
  });
}

int Divisibility::result_of(const Instr& instr, const IndexAnalysis& index) const {
  switch (instr.code) {
    case Code::constant:
      return largest_power(instr.integer);
    case Code::scalar:
      return std::min(kMost, program_.scalars[static_cast<std::size_t>(instr.index)].multiple_of);
    case Code::arange:
      return instr.axis == along_ ? kMost : 1;
    case Code::broadcast:
      return of(instr.args[0]);
    case Code::pointwise:
      break;
    default:
      return 1;
  }
  const auto both = [&] { return std::min(of(instr.args[0]), of(instr.args[1])); };
  switch (instr.op) {
    case Op::add:
    case Op::sub:
    case Op::minimum:
    case Op::maximum:
      return both();
    case Op::mul:
      return std::min(kMost, of(instr.args[0]) * of(instr.args[1]));
    case Op::lt: {
      const auto& mask = index.mask(instr.results[0]);
      return mask && mask->col_limit.empty() ? kMost : both();
    }
    case Op::logical_and:
      return both();
    default:
      return 1;
  }
}

}  // namespace sinter
