// Multiplies by repeated squaring; handles the special cases in which pow differs from roots.
#include "src/lower/power.h"

#include <limits>

namespace sinter {
namespace {

using tile::Builder;
using tile::ValueId;

// Integers wrap, as in pow.
ValueId product(Builder& b, ValueId x, int factors) {
  if (factors == 1) return x;
  if (factors % 2 == 0) return b.pointwise(Op::square, {product(b, x, factors / 2)});
  return b.pointwise(Op::mul, {product(b, x, factors - 1), x});
}

// Unlike sqrt and rsqrt, pow returns no -0 or -infinity here, and no NaN for -infinity.
ValueId root(Builder& b, Op op, ValueId x, double of_minus_infinity) {
  const DType dtype = b[x].dtype;
  const ValueId positive = b.pointwise(Op::abs, {b.pointwise(op, {x})});
  const ValueId lowest = b.real(-std::numeric_limits<double>::infinity(), dtype);
  return b.pointwise(
      Op::where, {b.pointwise(Op::eq, {x, lowest}), b.real(of_minus_infinity, dtype), positive});
}

}  // namespace

ValueId emit_power(Builder& b, ValueId x, const PowerForm& form) {
  switch (form.base) {
    case PowerForm::Base::x:
      return product(b, x, form.factors);
    case PowerForm::Base::reciprocal:
      return product(b, b.pointwise(Op::reciprocal, {x}), form.factors);
    case PowerForm::Base::square_root:
      return root(b, Op::sqrt, x, std::numeric_limits<double>::infinity());
    default:
      return root(b, Op::rsqrt, x, 0);
  }
}

}  // namespace sinter
