// Sums of single factors are bounded term by term.
#include "src/codegen/analysis/index_bounds.h"

#include <limits>

namespace sinter {

using tile::Code;
using tile::Instr;

IndexBounds::IndexBounds(const tile::TileProgram& program, const IndexAnalysis& index) {
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    if (instr.code == Code::scalar) {
      const tile::ScalarParam& scalar = program.scalars[instr.index];
      Range range;
      if (scalar.positive) range = {1, std::numeric_limits<std::int32_t>::max()};
      if (scalar.at_least > 0) range.least = scalar.at_least;
      ranges_[instr.results[0]] = range;
    } else if (instr.code == Code::pointwise && instr.op == Op::remainder &&
               program[instr.results[0]].dtype == DType::i64) {
      const auto& by = index.affine(instr.args[1]);
      const auto divisor = by ? by->base.constant() : std::nullopt;
      if (divisor && *divisor > 0) ranges_[instr.results[0]] = {0, *divisor - 1};
    }
  });
}

std::optional<std::int64_t> IndexBounds::bound(const Index& index, bool upper) const {
  std::int64_t sum = 0;
  for (const Index::Term& term : index.terms()) {
    if (term.factors.size() > 1) return std::nullopt;
    std::optional<std::int64_t> factor = 1;
    if (!term.factors.empty()) {
      const auto found = ranges_.find(term.factors[0]);
      if (found == ranges_.end()) return std::nullopt;
      factor = (term.coefficient > 0) == upper ? found->second.most : found->second.least;
    }
    std::int64_t product = 0;
    if (!factor || __builtin_mul_overflow(term.coefficient, *factor, &product) ||
        __builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

}  // namespace sinter
