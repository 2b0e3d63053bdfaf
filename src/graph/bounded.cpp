// Pointwise operations and casts on Bounded elements. A function is evaluated at the corners of its
// operands' ranges: if the results disagree on NaN, infinity or a truth value, the result is
// unknown.
#include "src/graph/bounded.h"

#include <algorithm>

#include "src/graph/graph.h"
#include "src/graph/scalar_math.h"

namespace sinter::bounded {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool representable(double value, DType dtype) {
  return std::isnan(value) || Scalar::of(value).as(dtype).real == value;
}

// Evaluates a row of the op table; bools come out as 0 and 1.
double evaluate(Op op, double a, double b, double c) {
  double result = 0;
  scalar::visit_pointwise<double>(op, [&]<typename F>(F f) {
    if constexpr (std::is_invocable_v<F, double, double, double>)
      result = static_cast<double>(f(a, b, c));
  });
  return result;
}

// Samples of an operand's range: its value first, its ends, and zeros of both signs if within it.
struct Samples {
  std::array<double, 5> at{};
  std::size_t count = 1;

  const double* begin() const { return at.data(); }
  const double* end() const { return at.data() + count; }
};
Samples samples(const Bounded& x, double widen) {
  const double error = x.error + (std::isfinite(x.value) ? widen * std::fabs(x.value) : 0);
  Samples result{{x.value}, 1};
  auto add = [&](double value) { result.at[result.count++] = value; };
  if (error > 0) {
    add(x.value - error);
    add(x.value + error);
  }
  if (std::fabs(x.value) <= error) {
    add(0.0);
    add(-0.0);
  }
  return result;
}

bool same_kind(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::isinf(a) || std::isinf(b) ? a == b : true;
}

bool gives_bool(Op op) {
  const DTypeRule rule = info(op).rule;
  return rule == DTypeRule::Compare || rule == DTypeRule::Logical || rule == DTypeRule::Test;
}

// Largest deviation of results over the operands' ranges from the result at their values; infinite
// if some are NaN or infinite and others are not.
double deviation(Op op, std::span<const Bounded> operands, double widen) {
  std::array<Samples, 3> at;
  for (std::size_t i = 0; i < operands.size(); ++i) at[i] = samples(operands[i], widen);
  if (at[0].count * at[1].count * at[2].count == 1) return 0;
  const double middle = evaluate(op, at[0].at[0], at[1].at[0], at[2].at[0]);
  double most = 0;
  for (double a : at[0])
    for (double b : at[1])
      for (double c : at[2]) {
        const double result = evaluate(op, a, b, c);
        if (!same_kind(result, middle)) return kInfinity;
        if (std::isfinite(middle)) most = std::max(most, std::fabs(result - middle));
      }
  return most;
}

template <typename T>
std::int64_t to_integer(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? 1 : 0;
  else
    return value.value;
}

template <typename T>
Bounded integer_pointwise(Op op, std::span<const Bounded> operands) {
  std::array<T, 3> v{};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if constexpr (std::is_same_v<T, bool>)
      v[i] = operands[i].integer != 0;
    else
      v[i] = T(operands[i].integer);
  }
  Bounded result = Bounded::unknown();
  scalar::visit_pointwise<T>(op, [&]<typename F>(F f) {
    if constexpr (std::is_invocable_v<F, T, T, T>)
      result = Bounded::whole(to_integer(f(v[0], v[1], v[2])));
  });
  return result;
}

// Whether f64 is known to hold the exact result.
bool exact_in_f64(Op op, double a, double b) {
  const long double x = a;
  const long double y = b;
  long double exact = 0;
  switch (op) {
    case Op::add:
      exact = x + y;
      break;
    case Op::sub:
      exact = x - y;
      break;
    case Op::mul:
      exact = x * y;
      break;
    case Op::square:
      exact = x * x;
      break;
    case Op::floor_div:
    case Op::remainder:
      return std::fabs(a) < 0x1p53 * std::fabs(b);
    default:
      return false;
  }
  return exact == static_cast<long double>(static_cast<double>(exact));
}

// Error of a GPU's exp(a) beyond that of any library function: kernels/cuda/math.cuh states
// 2 + |a| ulp. Operations composed of it are bounded as if `a` was 4 ulp off, which is more; but
// they multiply the error of flushed subnormals.
double more_on_gpu(Op op, double a, double value, double error, DType dtype) {
  if (compute_dtype(dtype) != DType::f32 || !std::isfinite(value)) return 0;
  const Precision compute = precision_of(DType::f32);
  const double ulp = 2 * compute.unit * (std::fabs(value) + error);
  if (op == Op::exp) return std::max(0.0, 2 + std::fabs(a) - 4) * ulp;
  if (op == Op::silu || op == Op::gelu_tanh)
    return std::fabs(a) * compute.least / (2 * compute.unit);
  return 0;
}

Bounded real_pointwise(Op op, DType dtype, DType result, std::span<const Bounded> x,
                       Kernels kernels) {
  std::array<double, 3> v{};
  for (std::size_t i = 0; i < x.size(); ++i) v[i] = x[i].value;
  const double value = evaluate(op, v[0], v[1], v[2]);
  const Rounding rounding = rounding_of(op);
  const double widen =
      rounding == Rounding::composed ? 8 * precision_of(compute_dtype(dtype)).unit : 0;
  double error = deviation(op, x, widen);
  // A jump between the corners.
  if (op == Op::eq || op == Op::ne) {
    const double gap = std::fabs(v[0] - v[1]);
    if (x[0].error + x[1].error > 0 && gap <= x[0].error + x[1].error) return Bounded::unknown();
  }
  if (op == Op::remainder && deviation(Op::floor_div, x, 0) != 0) return Bounded::unknown();
  // Corners a period apart would hide the extremes between them.
  const bool is_periodic = op == Op::sin || op == Op::cos || op == Op::tan;
  if (is_periodic && x[0].error > 0.5) return Bounded::unknown();
  // A negative base has a power only if the exponent is an integer.
  if (op == Op::pow && v[0] - x[0].error < 0 && x[1].error > 0 &&
      std::floor(v[1] - x[1].error) != std::floor(v[1] + x[1].error))
    return Bounded::unknown();
  if (gives_bool(op)) return error == 0 ? Bounded::whole(value != 0) : Bounded::unknown();
  if (error == kInfinity) return Bounded::unknown();
  // Curvature between the corners.
  if (rounding != Rounding::exact) error *= 1.25;
  if (kernels == Kernels::gpu) error += more_on_gpu(op, v[0], value, error, dtype);
  Rounding quality = rounding;
  // A sum or product that f64 itself had to round is not exact in any type.
  if (dtype == DType::f64 && rounding == Rounding::once && !exact_in_f64(op, v[0], v[1]))
    quality = Rounding::library;
  return rounded(value, error, result, quality);
}

}  // namespace

Precision precision_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {0x1p-11, 65504, 0x1p-24};
    case DType::bf16:
      return {0x1p-8, 0x1.fep127, 0x1p-133};
    case DType::f64:
      return {0x1p-53, std::numeric_limits<double>::max(), 0x1p-1074};
    default:
      return {0x1p-24, std::numeric_limits<float>::max(), 0x1p-149};
  }
}

Rounding rounding_of(Op op) {
  if (gives_bool(op)) return Rounding::exact;
  switch (op) {
    case Op::copy:
    case Op::maximum:
    case Op::minimum:
    case Op::clamp:
    case Op::neg:
    case Op::abs:
    case Op::sign:
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
    case Op::relu:
    case Op::where:
      return Rounding::exact;
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::floor_div:
    case Op::remainder:
    case Op::fma:
    case Op::square:
    case Op::reciprocal:
    case Op::sqrt:
    case Op::leaky_relu:
      return Rounding::once;
    case Op::pow:
    case Op::atan2:
    case Op::exp:
    case Op::exp2:
    case Op::expm1:
    case Op::log:
    case Op::log2:
    case Op::log10:
    case Op::log1p:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
    case Op::erf:
    case Op::erfc:
      return Rounding::library;
    default:  // an expression of several operations, which may cancel
      return Rounding::composed;
  }
}

Bounded rounded(double value, double error, DType dtype, Rounding rounding) {
  if (std::isnan(value) || std::isinf(value))
    return error == 0 ? Bounded::real(value) : Bounded::unknown();
  const Precision compute = precision_of(compute_dtype(dtype));
  const Precision storage = precision_of(dtype);
  const double magnitude = std::fabs(value) + error;
  const bool inexact = rounding >= Rounding::library;
  if (inexact) {
    // 4 ulp; results below the normal numbers may be lost.
    const double smallest = compute.least / compute.unit;
    error += 10 * compute.unit * magnitude + smallest;
  }
  if (error > 0 || !representable(value, dtype)) {
    const bool copies = rounding == Rounding::exact && compute_dtype(dtype) == dtype;
    if (!copies) error += 2 * compute.unit * magnitude + compute.least;
    // A selected operand was rounded before, unless it is a constant of the program.
    if (compute_dtype(dtype) != dtype &&
        (rounding != Rounding::exact || !representable(value, dtype)))
      error += storage.unit * magnitude + storage.least;
  }
  // Beyond the largest number some executors overflow and some do not.
  if (std::fabs(value) - error > compute.most * 1.001)
    return Bounded::real(std::copysign(kInfinity, value));
  if (std::fabs(value) + error >= storage.most * (1 - 2 * storage.unit) &&
      (error > 0 || std::fabs(value) > storage.most))
    return Bounded::unknown();
  // A bound this wide checks nothing, and corners no longer represent the range.
  const double widest = storage.unit > 0x1p-12 ? 0.1 : 1e-3;
  if (error > widest * std::max(1.0, std::fabs(value))) return Bounded::unknown();
  return Bounded::real(value, error);
}

Bounded pointwise(Op op, DType dtype, DType result, std::span<const Bounded> operands,
                  Kernels kernels) {
  if (op == Op::where) {
    if (!operands[0].known()) return Bounded::unknown();
    const Bounded& picked = operands[0].integer ? operands[1] : operands[2];
    const bool is_number = picked.error == 0 && is_floating(result);
    return is_number ? rounded(picked.value, 0, result, Rounding::exact) : picked;
  }
  for (const Bounded& operand : operands)
    if (!operand.known()) return Bounded::unknown();
  switch (dtype) {
    case DType::i32:
      return integer_pointwise<scalar::I32>(op, operands);
    case DType::i64:
      return integer_pointwise<scalar::I64>(op, operands);
    case DType::boolean:
      return integer_pointwise<bool>(op, operands);
    default:
      return real_pointwise(op, dtype, result, operands, kernels);
  }
}

Bounded cast(const Bounded& element, DType from, DType to) {
  if (!element.known() || from == to) return element;
  if (!is_floating(from)) {
    if (!is_floating(to)) return Bounded::whole(Scalar::of(element.integer).as(to).integer);
    const Scalar exact = Scalar::of(element.integer);
    const bool fits =
        std::fabs(exact.real) < 0x1p53 && representable(exact.real, compute_dtype(to));
    if (fits) return Bounded::real(exact.as(to).real);
    return rounded(exact.real, 2 * precision_of(to).unit * std::fabs(exact.real), to,
                   Rounding::once);
  }
  if (!is_floating(to)) {
    const auto convert = [&](double x) { return Scalar::of(x).as(to).integer; };
    const std::int64_t value = convert(element.value);
    for (double x : samples(element, 0))
      if (convert(x) != value) return Bounded::unknown();
    return Bounded::whole(value);
  }
  // A cast always rounds.
  if (element.error == 0 && (from != DType::f64 || compute_dtype(to) == to))
    return Bounded::real(Scalar::of(element.value).as(to).real);
  return rounded(element.value, element.error, to, Rounding::once);
}

bool agrees(const Bounded& want, double got) {
  if (!want.known()) return true;
  if (std::isnan(want.value) || std::isnan(got)) return std::isnan(want.value) && std::isnan(got);
  if (std::isinf(want.value) || std::isinf(got)) return want.value == got;
  return std::fabs(got - want.value) <= want.error;
}

bool agrees(const Bounded& want, std::int64_t got) { return !want.known() || want.integer == got; }

}  // namespace sinter::bounded
