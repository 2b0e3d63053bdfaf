// The references themselves come from op_references.def.
#include "tests/support/op_table.h"

#include <cmath>

namespace sinter::testing {
namespace {

// Wide enough for the exact product of two i64.
__extension__ using Wide = __int128;

template <typename T>
T larger(T a, T b) {
  return a != a || a > b ? a : b;  // NaN wins
}
template <typename T>
T smaller(T a, T b) {
  return a != a || a < b ? a : b;
}
Real magnitude(Real a) { return std::fabs(a); }
Wide magnitude(Wide a) { return a < 0 ? -a : a; }

// Python's rules; integers divided by zero give 0.
Real python_remainder(Real a, Real b) {
  const Real rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
Wide python_remainder(Wide a, Wide b) {
  if (b == 0) return 0;
  const Wide rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
Real python_quotient(Real a, Real b) {
  if (b == 0) return a / b;
  const Real rest = std::fmod(a, b);
  const Real quotient = std::nearbyint((a - rest) / b);
  return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
}
Wide python_quotient(Wide a, Wide b) { return b == 0 ? 0 : (a - python_remainder(a, b)) / b; }

// Integers are whole already.
Real rounded_down(Real a) { return std::floor(a); }
Real rounded_up(Real a) { return std::ceil(a); }
Real rounded_even(Real a) { return std::nearbyint(a); }
Real rounded_to_zero(Real a) { return std::trunc(a); }
Wide rounded_down(Wide a) { return a; }
Wide rounded_up(Wide a) { return a; }
Wide rounded_even(Wide a) { return a; }
Wide rounded_to_zero(Wide a) { return a; }

// Integers: the low 64 bits, which are all that a result can hold.
Real power(Real a, Real b) { return std::pow(a, b); }
Wide power(Wide a, Wide b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  unsigned long long result = 1;
  for (int bit = 62; bit >= 0; --bit) {
    result *= result;
    if (b >> bit & 1) result *= static_cast<unsigned long long>(a);
  }
  return static_cast<long long>(result);
}

Real logistic(Real a) { return a < 0 ? std::exp(a) / (1 + std::exp(a)) : 1 / (1 + std::exp(-a)); }
Real gelu_tanh_argument(Real a) {
  return 2 * std::sqrt(2 / std::acos(Real{-1})) * (a + 0.044715L * a * a * a);
}

namespace reference {

#define SINTER_REFERENCE(name, f32, f64, ...)                                             \
  struct name {                                                                           \
    static constexpr double kF32Ulps = f32;                                               \
    static constexpr double kF64Ulps = f64;                                               \
    template <typename T>                                                                 \
    static auto apply([[maybe_unused]] T a, [[maybe_unused]] T b, [[maybe_unused]] T c) { \
      return __VA_ARGS__;                                                                 \
    }                                                                                     \
  };
#include "tests/support/op_references.def"
#undef SINTER_REFERENCE

}  // namespace reference

constexpr bool has_integer_form(Rule rule) {
  return rule != Rule::Floating && rule != Rule::Logical && rule != Rule::Test;
}

// Whether IEEE 754 or the C library define the zero's sign; maximum and minimum may return either.
bool keeps_sign_of_zero(const OpRow& op) {
  for (const char* name :
       {"copy",       "add",   "sub",  "mul",   "div",   "neg",  "abs",   "sign",  "square",
        "reciprocal", "floor", "ceil", "round", "trunc", "sqrt", "sin",   "tan",   "asin",
        "atan",       "sinh",  "tanh", "asinh", "atanh", "erf",  "expm1", "log1p", "where"})
    if (op.name == name) return true;
  return false;
}

Real wrapped(DType dtype, Wide value) {
  if (dtype == DType::i32) return static_cast<std::int32_t>(value);
  return static_cast<Real>(static_cast<std::int64_t>(value));
}

template <typename Reference, Rule rule>
OpRow make_row(const char* name, int arity, Tensor (*call)(std::span<const Arg>)) {
  OpRow row{name, arity, rule, Reference::kF32Ulps, Reference::kF64Ulps, call, nullptr, nullptr};
  row.real = [](Real a, Real b, Real c) { return static_cast<Real>(Reference::apply(a, b, c)); };
  if constexpr (has_integer_form(rule))
    row.integer = [](DType dtype, Real a, Real b, Real c) {
      return wrapped(dtype, Reference::template apply<Wide>(
                                static_cast<Wide>(a), static_cast<Wide>(b), static_cast<Wide>(c)));
    };
  return row;
}

}  // namespace

const std::vector<OpRow>& op_table() {
#define SINTER_CALL_1 args[0]
#define SINTER_CALL_2 args[0], args[1]
#define SINTER_CALL_3 args[0], args[1], args[2]
#define SINTER_POINTWISE(name, arity, rule, cost, ...) \
  make_row<reference::name, Rule::rule>(               \
      #name, arity, [](std::span<const Arg> args) { return sinter::name(SINTER_CALL_##arity); }),
  static const std::vector<OpRow> table{
#include <sinter/ops.def>
  };
#undef SINTER_POINTWISE
  return table;
}

bool takes(const OpRow& op, DType promoted) {
  return op.rule != Rule::Signed || promoted != DType::boolean;
}

bool takes_number(const OpRow& op, DType promoted, bool number_is_second, Real number) {
  if (!number_is_second || !is_integer(operand_dtype(op.rule, promoted))) return true;
  if (op.name == "floor_div" || op.name == "remainder") return number != 0;
  return op.name != "pow" || number >= 0;
}

DType operand_dtype(Rule rule, DType promoted) {
  switch (rule) {
    case Rule::Number:
      return promoted == DType::boolean ? DType::i64 : promoted;
    case Rule::Floating:
    case Rule::Test:
      return is_floating(promoted) ? promoted : DType::f32;
    case Rule::Logical:
      return DType::boolean;
    default:
      return promoted;
  }
}

DType expected_dtype(Rule rule, DType promoted) {
  if (rule == Rule::Compare || rule == Rule::Logical || rule == Rule::Test) return DType::boolean;
  return operand_dtype(rule, promoted);
}

Real reference_value(const OpRow& op, DType dtype, Real a, Real b, Real c) {
  const DType operands = operand_dtype(op.rule, dtype);
  auto converted = [&](Real x) { return round_to(operands, x); };
  const Real first = op.rule == Rule::Select ? round_to(DType::boolean, a) : converted(a);
  if (is_integer(operands)) return op.integer(operands, first, converted(b), converted(c));
  if (operands == DType::boolean && op.name == "add") return larger(first, converted(b));
  return op.real(first, converted(b), converted(c));
}

Tolerance tolerance_of(const OpRow& op, DType result) {
  double ulps = 0;
  if (result == DType::f32) ulps = op.f32_ulps;
  if (result == DType::f64) ulps = op.f64_ulps;
  if (result == DType::f16 && op.f32_ulps > 0) ulps = 0.5 + op.f32_ulps * 0x1p-12;
  if (result == DType::bf16 && op.f32_ulps > 0) ulps = 0.5 + op.f32_ulps * 0x1p-15;
  // Ops of more than one step multiply the error of an intermediate subnormal.
  const bool composed = op.name == "silu" || op.name.starts_with("gelu");
  return {ulps, composed ? 1024 * ulp_of(result, 0) : 0, keeps_sign_of_zero(op)};
}

}  // namespace sinter::testing
