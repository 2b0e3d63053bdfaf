// A limit bounds a loop if all guards in it agree and no effect is without one. Loads need none;
// reductions need one along the columns they run over, not along the rows.
#include "src/codegen/limits.h"

#include <fmt/format.h>

#include <optional>

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::ValueId;

namespace {

// The mask that guards an instruction's effect: a store's own, a reduction's by its select.
ValueId guard(const ProgramFacts& facts, const Instr& instr) {
  if (instr.code == Code::store) return instr.args[2];
  if (instr.code == Code::load) return instr.args[1];
  if (instr.code == Code::reduce) {
    const Instr& source = *facts.definition.at(instr.args[0]);
    const bool selects = source.code == Code::pointwise && source.op == Op::where;
    return selects ? source.args[0] : kNoValue;
  }
  return kNoValue;
}

// The one limit along an axis that all guards of the stage agree on; empty if they do not.
std::string common_limit(const IndexAnalysis& index, const ProgramFacts& facts, const Stage& stage,
                         std::string PrefixMask::*axis, bool reductions_too) {
  std::optional<std::string> limit;
  bool agreed = true;
  auto visit = [&](const Instr& instr, bool required) {
    const ValueId mask = guard(facts, instr);
    const auto* prefix = mask == kNoValue || !index.mask(mask) ? nullptr : &*index.mask(mask);
    const std::string text = prefix ? (*prefix).*axis : "";
    if (text.empty()) {
      if (required || (mask != kNoValue && !prefix)) agreed = false;
      return;
    }
    if (limit && *limit != text) agreed = false;
    limit = text;
  };
  for (const Instr* instr : stage.sinks)
    visit(*instr, instr->code == Code::store || reductions_too);
  for (const Instr* instr : stage.elements)
    if (instr->code == Code::load) visit(*instr, false);
  return agreed ? limit.value_or("") : "";
}

}  // namespace

PrefixMask row_loop_limits(const IndexAnalysis& index, const std::vector<const Instr*>& rows) {
  PrefixMask limits;
  for (const Instr* instr : rows) {
    if (instr->code != Code::store && instr->code != Code::load) continue;
    const ValueId mask = instr->code == Code::store ? instr->args[2] : instr->args[1];
    if (mask == kNoValue) {
      if (instr->code == Code::store) return {};
      continue;
    }
    const auto& prefix = index.mask(mask);
    if (!prefix || prefix->row_limit.empty()) return {};
    if (!limits.row_limit.empty() && limits.row_limit != prefix->row_limit) return {};
    limits.row_limit = prefix->row_limit;
  }
  return limits;
}

PrefixMask element_loop_limits(const IndexAnalysis& index, const ProgramFacts& facts,
                               const Stage& stage) {
  return {common_limit(index, facts, stage, &PrefixMask::row_limit, false),
          common_limit(index, facts, stage, &PrefixMask::col_limit, true)};
}

PrefixMask beside(const PrefixMask& limits, const PrefixMask& mask) {
  PrefixMask rest = mask;
  if (rest.row_limit == limits.row_limit) rest.row_limit.clear();
  if (rest.col_limit == limits.col_limit) rest.col_limit.clear();
  return rest;
}

std::string bound_text(const std::string& limit, std::int64_t size) {
  if (limit.empty()) return std::to_string(size);
  return fmt::format("{} < {} ? {} : {}", limit, size, limit, size);
}

}  // namespace sinter
