// Literals are written so that negative numbers, -0 and the extremes compile to the same value.
#include "src/codegen/c_text.h"

#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "src/base/check.h"

namespace sinter {
namespace {

std::string real_text(double value, DType dtype) {
  const std::string_view suffix = dtype == DType::f32 ? "f" : "";
  if (std::isnan(value)) return fmt::format("__builtin_nan{}(\"\")", suffix);
  if (std::isinf(value)) return fmt::format("{}__builtin_inf{}()", value < 0 ? "-" : "", suffix);
  std::string text =
      dtype == DType::f32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text += suffix;
  return value < 0 || std::signbit(value) ? "(" + text + ")" : text;
}

std::string integer_text(std::int64_t value, DType dtype) {
  if (dtype == DType::boolean) return value ? "true" : "false";
  std::string text;
  if (value == std::numeric_limits<std::int64_t>::min())
    text = "(-9223372036854775807 - 1)";
  else
    text = value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
  return fmt::format("{}({})", compute_type(dtype), text);
}

}  // namespace

std::string_view compute_type(DType dtype) {
  switch (compute_dtype(dtype)) {
    case DType::f32:
      return "f32";
    case DType::f64:
      return "f64";
    case DType::i32:
      return "i32";
    case DType::i64:
      return "i64";
    default:
      return "bool";
  }
}

std::string_view storage_type(DType dtype) {
  return dtype == DType::boolean ? "u8" : name_of(dtype);
}

std::string literal(const tile::Instr& constant, DType dtype) {
  return is_floating(dtype) ? real_text(constant.real, dtype)
                            : integer_text(constant.integer, dtype);
}

tile::Instr identity(ReduceKind kind, DType dtype) {
  const Scalar value = identity_of(kind, dtype);
  tile::Instr constant;
  constant.real = value.real;
  constant.integer = value.integer;
  return constant;
}

std::string reduction_name(ReduceKind kind) {
  std::string name(name_of(kind));
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

std::string reduction_declarations(const tile::TileProgram& program) {
  std::set<ReduceKind> used;
  tile::for_each_instr(program.body, [&](const tile::Instr& instr) {
    if (instr.code == tile::Code::reduce)
      used.insert({instr.reduce_kind, value_kind(instr.reduce_kind)});
  });
  std::string text;
  for (ReduceKind kind : used)
    text += fmt::format("SN_{}({}, {})\n", is_arg(kind) ? "POSITION_REDUCTION" : "REDUCTION",
                        reduction_name(kind), info(info(kind).combine).expression);
  return used.empty() ? text : text + "\n";
}

std::string identity_text(ReduceKind kind, DType dtype) {
  return literal(identity(kind, dtype), dtype);
}

std::string flat_index_text(std::initializer_list<Subscript> subscripts) {
  std::string text;
  bool is_name = true;
  for (const Subscript& each : subscripts) {
    if (each.extent == 1) continue;
    if (!text.empty()) {
      text = is_name ? fmt::format("{} * {}", text, each.extent)
                     : fmt::format("({}) * {}", text, each.extent);
      is_name = false;
    }
    if (each.text.empty()) continue;
    is_name = text.empty();
    text += fmt::format("{}{}", is_name ? "" : " + ", each.text);
  }
  return text.empty() ? "0" : text;
}

std::string expression_text(Op op, std::span<const std::string> operands) {
  const std::string_view text = info(op).expression;
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (is_word(text[i]) && end < text.size() && is_word(text[end])) ++end;
    const bool is_operand = end == i + 1 && text[i] >= 'a' && text[i] <= 'c';
    result += is_operand ? operands[static_cast<std::size_t>(text[i] - 'a')]
                         : std::string(text.substr(i, end - i));
    i = end;
  }
  return result;
}

}  // namespace sinter
