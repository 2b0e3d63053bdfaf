// The exponents that are strength-reduced, and their cost.
#include "src/graph/power.h"

#include <bit>
#include <cstdlib>

namespace sinter {
namespace {

// x^n by multiplication rounds n - 1 times where pow rounds once; x^-n rounds 2n - 1 times, since
// the reciprocal's error is raised to the power too. The reciprocal comes first: x^n may overflow
// where x^-n is not 0.
constexpr int kMostFactors = 8;
constexpr int kMostReciprocals = 4;

}  // namespace

std::optional<PowerForm> power_form(const Graph& graph, const Node& pow) {
  using Base = PowerForm::Base;
  const Node& exponent = graph[pow.operands[1].node];
  if (exponent.op != Op::constant) return std::nullopt;
  const double n = exponent.value.as(DType::f64).real;
  const bool is_whole = n >= -kMostFactors && n <= kMostFactors && n == static_cast<int>(n);
  if (is_whole && n >= 1) return PowerForm{Base::x, static_cast<int>(n)};
  if (!is_floating(pow.dtype)) return std::nullopt;
  if (is_whole && n <= -1 && n >= -kMostReciprocals)
    return PowerForm{Base::reciprocal, static_cast<int>(-n)};
  if (n == 0.5) return PowerForm{Base::square_root, 1};
  if (n == -0.5) return PowerForm{Base::reciprocal_root, 1};
  return std::nullopt;
}

int cost_of(const Graph& graph, const Node& node) {
  const int cost = info(node.op).cost;
  if (node.op != Op::pow) return cost;
  const auto form = power_form(graph, node);
  if (!form) return cost;
  constexpr int kSpecialCases = 3;  // instructions that handle the special cases of roots
  constexpr Op kBases[] = {Op::copy, Op::reciprocal, Op::sqrt, Op::rsqrt};
  const bool is_root = form->base >= PowerForm::Base::square_root;
  return info(kBases[static_cast<int>(form->base)]).cost + (is_root ? kSpecialCases : 0) +
         std::bit_width(static_cast<unsigned>(form->factors)) +
         std::popcount(static_cast<unsigned>(form->factors)) - 2;
}

}  // namespace sinter
