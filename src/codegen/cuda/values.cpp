// Rows and columns in a tile are 32-bit; their products with steps may need 64 bits (idx).
#include "src/codegen/cuda/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "src/base/check.h"

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::TileProgram;
using tile::ValueId;

namespace {

bool keeps_offsets(Op op) {
  return op == Op::add || op == Op::sub || op == Op::mul || op == Op::floor_div ||
         op == Op::remainder || op == Op::minimum || op == Op::maximum;
}

ById<ValueId, char> find_offsets(const TileProgram& program, const IndexAnalysis& index) {
  ById<ValueId, char> found(program.values.size(), 0);
  const auto is_offset = [&](ValueId id) { return found[id] != 0; };
  const auto is_index = [&](ValueId id) { return is_offset(id) || index.is_index(id); };
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    if (instr.code == Code::loop) found[instr.body_params[0]] = 1;
    if (instr.results.size() != 1) return;
    const tile::Value& value = program[instr.results[0]];
    if (index.is_row_atom(instr.results[0])) found[instr.results[0]] = 1;
    if (value.dtype != DType::i64) return;
    if (!value.shape.is_scalar()) {
      found[instr.results[0]] |= instr.code == Code::pointwise && keeps_offsets(instr.op) &&
                                 value.shape.cols > 1 && !index.affine(instr.results[0]) &&
                                 std::all_of(instr.args.begin(), instr.args.end(), is_index);
      return;
    }
    bool offset = false;
    switch (instr.code) {
      case Code::constant:
      case Code::scalar:
      case Code::program_id:
      case Code::arange:
        offset = true;
        break;
      case Code::pointwise:
        offset =
            keeps_offsets(instr.op) && std::all_of(instr.args.begin(), instr.args.end(), is_offset);
        break;
      default:
        break;
    }
    found[instr.results[0]] = offset;
  });
  return found;
}

// Finds divisors of the program id, of its quotients in turn, and positive ones of a tile's indices
// (those of a loop's chunk as well) if these have 32 bits.
CudaDivisors find_divisors(const TileProgram& program, const ProgramFacts& facts) {
  CudaDivisors found;
  std::set<ValueId> counters;  // scalars from 0 on: of loops, and multiples of the program id
  const auto is = [&](ValueId id, Code code) {
    const auto it = facts.definition.find(id);
    return it != facts.definition.end() && it->second->code == code;
  };
  const auto is_zero = [&](ValueId id) {
    return is(id, Code::constant) && facts.definition.at(id)->integer == 0;
  };
  // The first index of a program's tile: the program id, or a quotient of it, times the tile's
  // size.
  const auto is_block_start = [&](const Instr& instr) {
    if (instr.code != Code::pointwise || instr.op != Op::mul) return false;
    const auto is_block = [&](ValueId id) {
      return is(id, Code::program_id) || found.of.count(id);
    };
    const auto is_size = [&](ValueId id) {
      return is(id, Code::constant) && facts.definition.at(id)->integer > 0;
    };
    return is_block(instr.args[0]) && is_size(instr.args[1]);
  };
  const auto is_index = [&](ValueId id) {
    if (program.mapping.wide_index) return false;
    if (is(id, Code::arange)) return true;
    if (!is(id, Code::pointwise) || facts.definition.at(id)->op != Op::add) return false;
    const std::vector<ValueId>& args = facts.definition.at(id)->args;
    return (is(args[0], Code::arange) && counters.count(args[1]) > 0) ||
           (is(args[1], Code::arange) && counters.count(args[0]) > 0);
  };
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    if (instr.code == Code::loop && is_zero(instr.args[0])) counters.insert(instr.body_params[0]);
    if (is_block_start(instr)) counters.insert(instr.results[0]);
    if (instr.code != Code::pointwise || instr.op != Op::floor_div) return;
    const ValueId number = instr.args[0];
    if (!is(instr.args[1], Code::scalar)) return;
    const int scalar = facts.definition.at(instr.args[1])->index;
    const bool is_block = is(number, Code::program_id) ||
                          (found.of.count(number) != 0 && program[number].shape.is_scalar());
    const bool is_positive = program.scalars[scalar].positive;
    if (!is_block && !(is_positive && is_index(number))) return;
    found.of[instr.results[0]] = scalar;
    if (std::find(found.scalars.begin(), found.scalars.end(), scalar) == found.scalars.end())
      found.scalars.push_back(scalar);
  });
  return found;
}

std::string inverse_of(const TileProgram& program, int scalar) {
  return parameter_name(program.scalars[scalar].name) + "inverse";
}

// A row atom is a variable, or one for each of a thread's rows. A vector atom is computed where the
// vector begins.
ValueNames program_names(const TileProgram& program, const tile::ThreadLayout& layout,
                         const IndexAnalysis& index, const CudaDivisors& divisors) {
  ValueNames names(program, {program.mapping.wide_index ? "ll" : "", "idx"});
  tile::for_each_instr(program.body, [&](const Instr& instr) {
    if (instr.results.empty() || !index.is_vector_atom(instr.results[0])) return;
    const ValueId id = instr.results[0];
    const std::string number = names.text(*index.affine(instr.args[0]), "row", "begin");
    const auto it = divisors.of.find(id);
    names.spell_in_indices(
        id, it == divisors.of.end()
                ? fmt::format("idx(floor_div(i64({}), i64({})))", number, names[instr.args[1]])
                : fmt::format("positive_quotient(idx({}), {})", number,
                              inverse_of(program, it->second)));
  });
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (index.is_row_atom(id) && layout.row_steps(program[id].shape) > 1)
      names.spell_in_indices(id, names[id] + "[r]");
  }
  return names;
}

}  // namespace

CudaValues::CudaValues(const TileProgram& tile_program)
    : program(tile_program),
      layout(cuda_layout(program)),
      index(program, IndexForms::atoms),
      facts(program),
      divisors(find_divisors(program, facts)),
      names(program_names(program, layout, index, divisors)),
      offset_like(find_offsets(program, index)),
      divisibility(program, index),
      bounds(program, index) {}

std::string CudaValues::inverse_name(int scalar) const { return inverse_of(program, scalar); }

std::string CudaValues::buffer_name(const Instr& instr) const {
  return parameter_name(buffer(instr).name);
}

std::string_view CudaValues::type(ValueId id) const {
  return is_offset(id) ? "idx" : compute_type(program[id].dtype);
}

std::string CudaValues::row_variable(ValueId id) const {
  return layout.row_steps(shape(id)) > 1 ? name(id) + "[r]" : name(id);
}

std::string CudaValues::declaration(ValueId id) const {
  std::string text = fmt::format("{} {}", type(id), name(id));
  if (is_row(id) && layout.row_steps(shape(id)) == 1) return text;
  return fmt::format("{}[{}]", text, layout.elements(shape(id)));
}

std::string CudaValues::packed_type(const Instr& load) const {
  return fmt::format("Packed<{}, {}>", storage_type(buffer(load).dtype), layout.vector());
}

std::string CudaValues::packed_declaration(const Instr& load) const {
  const ValueId id = load.results[0];
  return fmt::format("{} {}[{}]", packed_type(load), name(id),
                     layout.elements(shape(id)) / layout.vector());
}

std::string CudaValues::vector_number(ValueId id) const {
  return flat_index_text({{"r", layout.row_steps(shape(id))}, {"k", layout.col_steps(shape(id))}});
}

std::string CudaValues::vector_index(ValueId id) const {
  return flat_index_text({{"r", layout.row_steps(shape(id))},
                          {"k", layout.col_steps(shape(id))},
                          {"", layout.vector()}});
}

std::string CudaValues::element_index(ValueId id) const {
  return flat_index_text({{"r", layout.row_steps(shape(id))},
                          {"k", layout.col_steps(shape(id))},
                          {"v", layout.vector()}});
}

std::string CudaValues::operand(ValueId id) const {
  if (index.is_row_atom(id)) return fmt::format("i64({})", row_variable(id));
  if (is_offset(id)) return fmt::format("i64({})", name(id));
  if (is_scalar(id)) return name(id);
  if (const auto& offsets = index.affine(id)) return fmt::format("i64({})", offset(*offsets, "0"));
  if (const auto& mask = index.mask(id)) {
    SINTER_ASSERT(!mask->col_limit, "{}", name(id));
    return fmt::format("({})", condition(*mask, "0"));
  }
  SINTER_ASSERT(is_row(id), "{}", name(id));
  return row_variable(id);
}

std::string CudaValues::expression(const Instr& instr) const {
  if (std::string text = index_remainder(instr); !text.empty()) return text;
  std::vector<std::string> operands;
  // The result has type idx if all operands are offsets.
  const bool all_offsets = instr.code == Code::pointwise && !instr.args.empty() &&
                           std::all_of(instr.args.begin(), instr.args.end(),
                                       [&](ValueId id) { return id != kNoValue && is_offset(id); });
  for (ValueId id : instr.args) {
    if (id == kNoValue)
      operands.emplace_back();
    else if (all_offsets)
      operands.push_back(fmt::format("idx({})", name(id)));
    else
      operands.push_back(operand(id));
  }
  if (const auto it = divisors.of.find(instr.results[0]); it != divisors.of.end())
    return fmt::format("quotient({}, {}, {})", operands[0], operands[1], inverse_name(it->second));
  return expression(instr, std::move(operands));
}

// An index modulo a power of two; empty for other instructions.
std::string CudaValues::index_remainder(const Instr& instr) const {
  if (instr.code != Code::pointwise || instr.op != Op::remainder || !is_offset(instr.results[0]))
    return {};
  const auto& by = index.affine(instr.args[1]);
  const std::int64_t divisor = by ? by->base.constant().value_or(0) : 0;
  if (divisor <= 0 || (divisor & (divisor - 1)) != 0) return {};
  return fmt::format("({}) & {}", offset(*index.affine(instr.args[0]), "0"), divisor - 1);
}

namespace {

// Operators that may overflow on integers.
bool may_overflow(Op op) {
  return op == Op::add || op == Op::sub || op == Op::mul || op == Op::neg || op == Op::square;
}

// Integers wrap around. Compilers assume that signed integers do not overflow and conclude from
// x + x == 0 that x is 0, so the operator is applied to unsigned integers.
std::string wrapping_text(Op op, std::string_view type, std::vector<std::string> operands) {
  for (std::string& operand : operands)
    operand = fmt::format("({})({})", type == "i32" ? "u32" : "u64", operand);
  return fmt::format("({})({})", type, expression_text(op, operands));
}

}  // namespace

std::string CudaValues::expression(const Instr& instr, std::vector<std::string> operands) const {
  switch (instr.code) {
    case Code::pointwise:
      if (const auto it = divisors.of.find(instr.results[0]); it != divisors.of.end())
        return fmt::format("{}(positive_quotient(idx({}), {}))", type(instr.results[0]),
                           operands[0], inverse_name(it->second));
      if (const std::string_view result = type(instr.results[0]);
          may_overflow(instr.op) && (result == "i32" || result == "i64"))
        return wrapping_text(instr.op, result, std::move(operands));
      return expression_text(instr.op, operands);
    case Code::cast: {
      std::string text = fmt::format("to_{}({})", type(instr.results[0]), operands[0]);
      if (instr.storage == DType::f16) return "round_f16(" + text + ")";
      if (instr.storage == DType::bf16) return "round_bf16(" + text + ")";
      return text;
    }
    case Code::broadcast:
      return operands[0];
    case Code::load: {
      std::string value = load_text(instr, operands[0]);
      if (instr.args[1] == kNoValue) return value;
      return fmt::format("{} ? {} : {}({})", operands[1], value, type(instr.results[0]),
                         instr.args[2] == kNoValue ? "0" : operands[2]);
    }
    default:
      SINTER_ASSERT(false, "not an expression");
      return {};
  }
}

std::string CudaValues::load_text(const Instr& instr, const std::string& offset) const {
  return fmt::format("{}({}, {})", buffer(instr).written ? "load_back_one" : "load_one",
                     buffer_name(instr), offset);
}

std::string CudaValues::condition(const RangeMask& mask, std::string_view col) const {
  std::string text;
  if (mask.row_limit) text = fmt::format("row < {}", names.text(*mask.row_limit));
  if (mask.row_first)
    text += fmt::format("{}row >= {}", text.empty() ? "" : " && ", names.text(*mask.row_first));
  if (!mask.col_limit && !mask.col_first) return text;
  if (!text.empty()) text += " && ";
  if (!mask.col_first) return text + fmt::format("{} < {}", col, names.text(*mask.col_limit));
  if (!mask.col_limit) return text + fmt::format("{} >= {}", col, names.text(*mask.col_first));
  return text + fmt::format("is_below({} - ({}), {})", col, names.text(*mask.col_first),
                            names.text(*mask.col_limit - *mask.col_first));
}

}  // namespace sinter
