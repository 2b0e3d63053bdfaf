// Constants are written where they are used, parameters keep their names, and a loop's scalar
// and row results are the variables it carried.
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

// Products of two that are plain ints must not overflow.
std::string whole_text(std::int64_t value) {
  return std::to_string(value) + (value < (1 << 15) ? "" : "L");
}

bool is_number(const std::string& text) {
  return text.find_first_not_of("()0123456789L") == std::string::npos;
}

std::vector<std::string> value_names(const TileProgram& program) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < program.values.size(); ++i) names.push_back(fmt::format("v{}", i));
  auto name = [&](ValueId id) -> std::string& { return names[static_cast<std::size_t>(id)]; };
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    for (std::size_t i = 0; i < instr.results.size(); ++i) {
      const ValueId id = instr.results[i];
      const DType dtype = program[id].dtype;
      if (instr.code == Code::constant)
        name(id) = dtype == DType::i64 && instr.integer >= 0 ? whole_text(instr.integer)
                                                             : literal(instr, dtype);
      else if (instr.code == Code::arange && program[id].shape.is_scalar())
        name(id) = "0";
      else if (instr.code == Code::scalar)
        name(id) = parameter_name(program.scalars[static_cast<std::size_t>(instr.index)].name);
      else if (instr.code == Code::program_id)
        name(id) = "program";
      else if (instr.code == Code::loop && program[id].shape.cols == 1)
        name(id) = name(instr.body_params[i + 1]);
    }
  });
  return names;
}

// The size of the largest element that vectors hold; masks and offsets that stay symbolic do not.
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
    // An index that is used as data; narrowed at once it never exists in full width.
    const bool narrows = instr.code == Code::cast && program[instr.results[0]].dtype == DType::i32;
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

// The bytes of a register that an element takes. What functions give depends on how many lanes they
// have, so a program whose operations are separate has as many as f32 alone would have, and wider
// elements take several registers.
int element_bytes(const TileProgram& program, const IndexAnalysis& index) {
  if (program.separate_ops && computes_f32(program)) return 4;
  return widest_element(program, index);
}

}  // namespace

CpuValues::CpuValues(const TileProgram& tile_program, int vector_bytes)
    : program(tile_program),
      names(value_names(program)),
      index(program, names),
      facts(program),
      observed(program, index, names),
      lanes(vector_bytes / element_bytes(program, index)) {}

std::string CpuValues::variable(ValueId id) const {
  const std::string text = fmt::format("{} {}", type(id), name(id));
  return rows(id) > 1 ? fmt::format("{}[{}]", text, rows(id)) : text;
}

std::string CpuValues::scalar_operand(ValueId id) const {
  if (is_scalar(id)) return name(id);
  if (const auto& offsets = index.affine(id))
    return fmt::format("({})", add_text(offsets->base, mul_text("r", offsets->row_step)));
  if (const auto& mask = index.mask(id)) {
    SINTER_ASSERT(mask->col_limit.empty(), "{}", name(id));
    return fmt::format("(r < {})", mask->row_limit);
  }
  SINTER_ASSERT(is_row(id), "{}", name(id));
  return name(id) + "[r]";
}

// A function's last bits may differ between one element and a vector of them.
bool CpuValues::calls_function(const Instr& instr) const {
  return is_floating(program[instr.results[0]].dtype) && info(instr.op).cost >= kHeavyCost;
}

std::string CpuValues::scalar_expression(const Instr& instr) const {
  std::vector<std::string> args;
  for (ValueId id : instr.args) args.push_back(id == kNoValue ? "" : scalar_operand(id));
  switch (instr.code) {
    case Code::pointwise:
      if (program.separate_ops && calls_function(instr)) {
        for (std::string& arg : args) arg = fmt::format("splat({})", arg);
        return fmt::format("first_lane({})", expression_text(instr.op, args));
      }
      if (info(instr.op).expression.find('(') != std::string_view::npos)
        for (std::string& arg : args)
          if (is_number(arg)) arg = fmt::format("i64({})", arg);  // an int fits no function
      return expression_text(instr.op, args);
    case Code::cast:
      return cast_expression(instr, args[0]);
    case Code::broadcast:
      return args[0];
    case Code::load: {
      std::string value = fmt::format("unpack_one({}[{}])", buffer_name(instr), args[0]);
      if (instr.args[1] == kNoValue) return value;
      return fmt::format("{} ? {} : {}({})", args[1], value, type(instr.results[0]), args[2]);
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
  return fmt::format("{} + ({})", buffer_name(instr), offset_text(offsets));
}

std::string offset_text(const Affine& affine) {
  return add_text(add_text(affine.base, mul_text("r", affine.row_step)),
                  mul_text("c", affine.col_step));
}

}  // namespace sinter
