// Reductions of Bounded elements. In: the elements of one reduction. Out: the result with its
// bound.
#include <algorithm>
#include <array>

#include "src/base/check.h"
#include "src/graph/bounded.h"
#include "src/graph/evaluate.h"

namespace sinter::bounded {
namespace {

// Index of the lowest set bit.
int lowest_bit(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const auto bits = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  return exponent - 53 + __builtin_ctzll(static_cast<unsigned long long>(std::llabs(bits)));
}

// Whether every partial sum, in any order, is representable in the type.
bool sums_exactly(std::span<const Bounded> elements, double magnitude, DType dtype) {
  int lowest = 1024;
  for (const Bounded& x : elements) {
    if (x.error > 0) return false;
    if (x.value != 0) lowest = std::min(lowest, lowest_bit(x.value));
  }
  const int digits = dtype == DType::f64 ? 53 : 24;
  return magnitude == 0 || magnitude < std::ldexp(1.0, std::min(lowest + digits, 1023));
}

// About ten standard deviations: roundings are seldom as large as their bound.
constexpr double kTypical = 4;

// What the roundings of all partial sums add up to, times Precision::unit. Each is at most the
// partial sum. In a random order, the sum of k elements is about k * mean + sqrt(k) * deviation,
// and the roundings add up like independent errors do (Higham and Mary, 2019).
double typical_rounding(double count, double total, double squares) {
  const double mean = total / count;
  const double variance = std::max(0.0, squares / count - mean * mean);
  return kTypical * count * std::sqrt(variance / 2 + count * mean * mean / 3);
}

Bounded reduce_sum(std::span<const Bounded> elements, DType result, SumBound bound) {
  const Precision compute = precision_of(compute_dtype(result));
  const auto count = static_cast<double>(elements.size());
  double total = 0;
  double squares = 0;
  double magnitude = 0;
  double error = 0;
  for (const Bounded& x : elements) {
    total += x.value;
    squares += x.value * x.value;
    error += x.error;
    if (std::isfinite(x.value)) magnitude += std::fabs(x.value) + x.error;
  }
  if (magnitude >= compute.most * 0.99) return Bounded::unknown();
  if (!std::isfinite(total)) return Bounded::real(total);
  if (!sums_exactly(elements, magnitude, compute_dtype(result))) {
    const double most = count * magnitude;
    const double roundings =
        bound == SumBound::always ? most : std::min(most, typical_rounding(count, total, squares));
    error += compute.unit * roundings + compute.least;
  }
  return rounded(total, error, result, Rounding::once);
}

Bounded reduce_product(std::span<const Bounded> elements, DType result) {
  const Precision compute = precision_of(compute_dtype(result));
  double product = 1;
  double outer = 1;    // product of the ranges' largest magnitudes
  double largest = 1;  // bound of the partial products in any order
  bool whole = true;
  bool finite = true;
  for (const Bounded& x : elements) {
    const double far = std::fabs(x.value) + x.error;
    product *= x.value;
    finite = finite && std::isfinite(x.value);
    outer *= far * (1 + 2 * compute.unit);
    largest *= std::max(1.0, far);
    whole = whole && x.error == 0 && std::trunc(x.value) == x.value;
  }
  if (!finite) {
    bool exact = true;
    for (const Bounded& x : elements) exact = exact && x.error == 0;
    const bool is_nan = std::isnan(product);
    // Unknown if an inexact element decides an infinity's sign or whether it becomes NaN.
    return exact || (is_nan && std::none_of(elements.begin(), elements.end(),
                                            [](const auto& x) {
                                              return x.value == 0 || x.error >= std::fabs(x.value);
                                            }))
               ? Bounded::real(product)
               : Bounded::unknown();
  }
  if (!(largest < compute.most * 0.99)) return Bounded::unknown();
  if (whole && largest < 0x1p24) return rounded(product, 0, result, Rounding::once);
  const double lost = static_cast<double>(elements.size()) * compute.least * largest;
  return rounded(product, outer - std::fabs(product) + lost, result, Rounding::once);
}

Bounded reduce_extreme(std::span<const Bounded> elements, bool greatest) {
  Bounded best = elements[0];
  for (const Bounded& x : elements) {
    if (std::isnan(x.value)) return Bounded::real(x.value);
    if (greatest ? best.value < x.value : x.value < best.value) best = x;
  }
  double error = best.error;
  for (const Bounded& x : elements)
    if (std::fabs(x.value - best.value) <= x.error + error) error = std::max(error, x.error);
  return Bounded::real(best.value, error);
}

Bounded reduce_position(std::span<const Bounded> elements, bool greatest) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double x = elements[i].value;
    if (std::isnan(x)) return Bounded::whole(static_cast<std::int64_t>(i));
    if (greatest ? elements[best].value < x : x < elements[best].value) best = i;
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double error = elements[i].error + elements[best].error;
    const double gap = std::fabs(elements[i].value - elements[best].value);
    if (i != best && error > 0 && gap <= error) return Bounded::unknown();
  }
  return Bounded::whole(static_cast<std::int64_t>(best));
}

// Combines elements one by one: reductions without a bound of their own.
Bounded reduce_in_order(Op combine, std::span<const Bounded> elements, DType dtype) {
  Bounded total = elements[0];
  for (const Bounded& x : elements.subspan(1)) {
    const std::array both{total, x};
    total = pointwise(combine, dtype, dtype, both);
  }
  return total;
}

std::int64_t combined(Op combine, std::int64_t a, std::int64_t b) {
  const auto result = evaluate(combine, DType::i64, {Scalar::of(a), Scalar::of(b)});
  SINTER_ASSERT(result, "there is no {} of integers", name_of(combine));
  return result->integer;
}

Bounded reduce_integers(ReduceKind kind, DType dtype, std::span<const Bounded> elements) {
  const Op combine = info(kind).combine;
  if (elements.empty()) return Bounded::whole(identity_of(kind, dtype).integer);
  std::int64_t total = elements[0].integer;
  std::size_t best = 0;
  for (std::size_t i = 1; i < elements.size(); ++i) {
    const std::int64_t x = elements[i].integer;
    if (!is_arg(kind))
      total = combined(combine, total, x);
    else if (combined(combine, x, elements[best].integer) != 0)
      best = i;
  }
  return Bounded::whole(is_arg(kind) ? static_cast<std::int64_t>(best) : total);
}

}  // namespace

Bounded reduce(ReduceKind kind, DType dtype, DType result, std::span<const Bounded> elements,
               SumBound bound) {
  for (const Bounded& x : elements)
    if (!x.known()) return Bounded::unknown();
  if (!is_floating(dtype)) return reduce_integers(kind, dtype, elements);
  const Op combine = info(kind).combine;
  switch (combine) {
    case Op::add:
      return reduce_sum(elements, result, bound);
    case Op::mul:
      return reduce_product(elements, result);
    case Op::maximum:
    case Op::minimum:
      return reduce_extreme(elements, combine == Op::maximum);
    case Op::gt:
    case Op::lt:
      return reduce_position(elements, combine == Op::gt);
    default:
      if (elements.empty()) return Bounded::real(identity_of(kind, dtype).real);
      return reduce_in_order(combine, elements, result);
  }
}

}  // namespace sinter::bounded
