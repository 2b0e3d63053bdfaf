// Rows are asked for while the second stage computes on those at hand; with one stage only, what
// hardware does not see coming is: transposed tiles, and the rows of a loop that jumps.
#include "src/codegen/cpu_prefetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/codegen/c_text.h"

namespace sinter {

using tile::Code;
using tile::Instr;

namespace {

// The stage that asks for what stage 0 loads; -1: none.
int asking_stage(const CpuValues& values, const std::vector<Stage>& stages,
                 const std::string& counter) {
  if (!values.program.stream_stores || stages[0].loop) return -1;
  const bool crosses =
      std::any_of(stages[0].elements.begin(), stages[0].elements.end(),
                  [&](const Instr* instr) { return values.is_transposed(*instr); });
  if (crosses || counter != "program") return 0;
  return stages.size() > 1 && !stages[1].loop ? 1 : -1;
}

// Scalars that depend on the counter, with `_next` for their value at the next one.
class NextValues {
 public:
  NextValues(const CpuValues& values, const Stage& stage, const std::string& counter,
             const std::string& next)
      : moving_{counter} {
    declarations_.push_back(fmt::format("const i64 {}_next = {};", counter, next));
    for (const Instr* instr : stage.scalars) {
      if (instr->code != Code::pointwise) continue;
      const std::string expression = values.scalar_expression(*instr);
      const std::string moved = at_next(expression);
      if (moved == expression) continue;
      const std::string& variable = values.name(instr->results[0]);
      moving_.insert(variable);
      declarations_.push_back(
          fmt::format("const {} {}_next = {};", values.type(instr->results[0]), variable, moved));
    }
  }

  std::string at_next(const std::string& text) const {
    return replace_words(
        text, [&](const std::string& word) { return moving_.count(word) ? word + "_next" : word; });
  }
  const std::vector<std::string>& declarations() const { return declarations_; }

 private:
  std::set<std::string> moving_;
  std::vector<std::string> declarations_;
};

}  // namespace

Prefetches plan_prefetches(const CpuValues& values, const std::vector<Stage>& stages,
                           const std::string& counter, const std::string& next) {
  Prefetches plan;
  plan.stage = asking_stage(values, stages, counter);
  if (plan.stage < 0) return plan;
  const NextValues next_values(values, stages[0], counter, next);
  for (const Instr* instr : stages[0].elements) {
    if (instr->code != Code::load) continue;
    const auto& offsets = values.index.affine(instr->args[0]);
    const bool transposed = values.is_transposed(*instr);
    if (!offsets || !(transposed || offsets->col_step == "1")) continue;
    Affine ahead = *offsets;
    ahead.base = next_values.at_next(ahead.base);
    if (transposed)
      plan.next_tiles[instr->results[0]] =
          fmt::format("{} + ({})", values.buffer(*instr).name, ahead.base);
    else
      plan.lines.push_back(
          fmt::format("__builtin_prefetch({}, 0, 2);", values.address(*instr, ahead)));
  }
  if (!plan.lines.empty() || !plan.next_tiles.empty())
    plan.declarations = next_values.declarations();
  return plan;
}

}  // namespace sinter
