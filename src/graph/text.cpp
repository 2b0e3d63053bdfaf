// Reading and writing numbers in program text.
#include "src/graph/text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "src/base/check.h"

namespace sinter {
namespace {

// The dtype of a number in type promotion: it takes the dtype of any value of its kind.
DType promoted_dtype(Literal::Kind kind, std::optional<DType> others) {
  switch (kind) {
    case Literal::Kind::boolean:
      return others.value_or(DType::boolean);
    case Literal::Kind::integer:
      return others && *others != DType::boolean ? *others : DType::i64;
    case Literal::Kind::real:
      break;
  }
  return others && is_floating(*others) ? *others : DType::f32;
}

bool result_has_operands_dtype(DTypeRule rule) {
  return rule != DTypeRule::Compare && rule != DTypeRule::Logical && rule != DTypeRule::Test;
}

bool is_bool(const Scalar& value, DType dtype) {
  return dtype == DType::boolean && !value.is_real && (value.integer == 0 || value.integer == 1);
}

std::string nan_text(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const double plain = std::numeric_limits<double>::quiet_NaN();
  if (bits == std::bit_cast<std::uint64_t>(plain)) return "nan";
  return fmt::format("nan(0x{:x})", bits);
}

// Appends ".0" to plain digits, which would read back as an integer.
std::string with_point(const std::string& digits) {
  return digits.find_first_not_of("-0123456789") == std::string::npos ? digits + ".0" : digits;
}

// The shortest text that gives the value back when read as a double and rounded to f32.
std::string real_text(double value, DType dtype) {
  if (std::isnan(value)) return nan_text(value);
  const auto narrow = static_cast<float>(value);
  if (compute_dtype(dtype) == DType::f32 && static_cast<double>(narrow) == value) {
    const std::string digits = fmt::format("{}", narrow);
    double read = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), read);
    if (static_cast<float>(read) == narrow) return with_point(digits);
  }
  return with_point(fmt::format("{}", value));
}

}  // namespace

Scalar rounded_number(const Literal& literal, DType dtype) {
  return literal.value.as(compute_dtype(dtype));
}

std::vector<Constant> plain_constants(Op op, std::span<const WrittenOperand> operands,
                                      std::optional<DType> result) {
  const DTypeRule rule = info(op).rule;
  const std::size_t first = rule == DTypeRule::Select ? 1 : 0;
  std::optional<DType> others;
  for (std::size_t i = first; i < operands.size(); ++i)
    if (operands[i].dtype)
      others = others ? promote(*others, *operands[i].dtype) : *operands[i].dtype;
  if (!others && result_has_operands_dtype(rule)) others = result;
  std::vector<DType> dtypes;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto beside = i < first ? std::optional<DType>() : others;
    dtypes.push_back(operands[i].dtype.value_or(promoted_dtype(operands[i].literal.kind, beside)));
  }
  const OpTypes types = op_types(op, dtypes);
  std::vector<Constant> constants;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const DType dtype = types.operands[i];
    // A comparison rounds the number so that it can equal a 16-bit element.
    const DType rounded = rule == DTypeRule::Compare ? dtype : compute_dtype(dtype);
    constants.push_back(
        {dtype, operands[i].literal.value.as(compute_dtype(dtypes[i])).as(rounded), dtypes[i]});
  }
  return constants;
}

Literal written_literal(const Scalar& value, DType dtype) {
  if (is_bool(value, dtype)) return {Literal::Kind::boolean, value};
  return {value.is_real ? Literal::Kind::real : Literal::Kind::integer, value};
}

std::string number_text(const Scalar& value, DType dtype) {
  if (is_bool(value, dtype)) return value.integer ? "true" : "false";
  return value.is_real ? real_text(value.real, dtype) : fmt::format("{}", value.integer);
}

std::string exact_text(const Scalar& value, const Scalar& read, DType dtype) {
  return same_key(value, read) ? number_text(value, dtype)
                               : "exact " + number_text(value, DType::f64);
}

std::string constant_text(const Scalar& value, DType dtype) {
  return exact_text(value, rounded_number(written_literal(value, dtype), dtype), dtype);
}

}  // namespace sinter
