// Indices are i64, so rows and columns need no conversion.
#include "src/codegen/cpu/values.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/check.h"

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::TileProgram;
using tile::ValueId;

namespace {

// The size of the largest element held in vectors; symbolic masks and offsets do not count.
int widest_element(const TileProgram& program, const IndexAnalysis& index) {
  std::size_t widest = 4;
  auto count = [&](ValueId id) {
    if (program[id].shape.cols > 1) widest = std::max(widest, size_of(program[id].dtype));
  };
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    for (ValueId id : instr.results)
      if (!index.is_index(id)) count(id);
    if (instr.code == Code::load || instr.code == Code::store) {
      if (!index.affine(instr.args[0])) count(instr.args[0]);
      return;
    }
    // An index used as data, unless it is cast to i32 or f32 at once: then it never has full width.
    const bool narrows =
        instr.code == Code::cast && size_of(program[instr.results[0]].dtype) == size_of(DType::i32);
    for (ValueId id : instr.args)
      if (id != kNoValue && index.affine(id) && !narrows && !instr.results.empty() &&
          !index.is_index(instr.results[0]))
        count(id);
  });
  return static_cast<int>(widest);
}

bool computes_f32(const TileProgram& program) {
  bool found = false;
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    for (ValueId id : instr.results)
      found = found || (instr.code == Code::pointwise && program[id].dtype == DType::f32);
  });
  return found;
}

// Bytes of a vector register per element. Function results depend on the number of lanes, so with
// separate_ops a program that computes f32 always uses f32's lane count, and wider elements take
// several registers.
int element_bytes(const TileProgram& program, const IndexAnalysis& index) {
  if (program.separate_ops && computes_f32(program)) return 4;
  return widest_element(program, index);
}

}  // namespace

CpuValues::CpuValues(const TileProgram& tile_program, int vector_bytes)
    : program(tile_program),
      names(program, {.long_suffix = "L", .product_type = ""}),
      index(program, IndexForms::ranges),
      facts(program),
      observed(program, index),
      lanes(vector_bytes / element_bytes(program, index)) {}

std::string CpuValues::variable(ValueId id) const {
  const std::string text = fmt::format("{} {}", type(id), name(id));
  return rows(id) > 1 ? fmt::format("{}[{}]", text, rows(id)) : text;
}

std::string CpuValues::scalar_operand(ValueId id, const ValueNames& operands) const {
  if (is_scalar(id)) return operands[id];
  if (const auto& offsets = index.affine(id))
    return fmt::format("({})", operands.text(*offsets, "r", "c"));
  if (const auto& mask = index.mask(id)) {
    SINTER_ASSERT(!mask->col_limit && !mask->col_first, "{}", name(id));
    if (!mask->row_first) return fmt::format("(r < {})", operands.text(*mask->row_limit));
    const std::string first = fmt::format("r >= {}", operands.text(*mask->row_first));
    if (!mask->row_limit) return fmt::format("({})", first);
    return fmt::format("({} && r < {})", first, operands.text(*mask->row_limit));
  }
  SINTER_ASSERT(is_row(id), "{}", name(id));
  return operands[id] + "[r]";
}

bool CpuValues::is_number(ValueId id) const {
  const auto& affine = index.affine(id);
  return affine && affine->row_step.is_zero() && affine->base.constant().value_or(-1) >= 0;
}

// Whether it calls a function whose last bits may differ between scalars and vectors.
bool CpuValues::calls_function(const Instr& instr) const {
  return is_floating(program[instr.results[0]].dtype) && info(instr.op).cost >= kHeavyCost;
}

std::string CpuValues::scalar_expression(const Instr& instr, const ValueNames& operands) const {
  std::vector<std::string> args;
  for (ValueId id : instr.args) args.push_back(id == kNoValue ? "" : scalar_operand(id, operands));
  switch (instr.code) {
    case Code::pointwise:
      if (program.separate_ops && calls_function(instr)) {
        for (std::string& arg : args) arg = fmt::format("splat({})", arg);
        return fmt::format("first_lane({})", expression_text(instr.op, args));
      }
      if (info(instr.op).expression.find('(') != std::string_view::npos)
        for (std::size_t i = 0; i < args.size(); ++i)  // no function takes an int
          if (is_number(instr.args[i])) args[i] = fmt::format("i64({})", args[i]);
      return expression_text(instr.op, args);
    case Code::cast:
      return cast_expression(instr, args[0]);
    case Code::broadcast:
      return args[0];
    case Code::load: {
      std::string value = fmt::format("unpack_one({}[{}])", buffer_name(instr), args[0]);
      if (instr.args[1] == kNoValue) return value;
      return fmt::format("{} ? {} : {}({})", args[1], value, type(instr.results[0]),
                         instr.args[2] == kNoValue ? "0" : args[2]);
    }
    default:
      SINTER_ASSERT(false, "not a scalar instruction");
      return {};
  }
}

std::string CpuValues::cast_expression(const Instr& instr, const std::string& value) const {
  std::string text = fmt::format("to_{}({})", type(instr.results[0]), value);
  if (instr.storage == DType::f16) return "round_f16(" + text + ")";
  if (instr.storage == DType::bf16) return "round_bf16(" + text + ")";
  return text;
}

std::string CpuValues::address(const Instr& instr, const Affine& offsets) const {
  return fmt::format("{} + ({})", buffer_name(instr), offset(offsets));
}

std::string CpuValues::bound(const std::optional<Index>& limit, std::int64_t size) const {
  if (!limit) return std::to_string(size);
  const std::string text = names.text(*limit);
  return fmt::format("{} < {} ? {} : {}", text, size, text, size);
}

}  // namespace sinter
