// Rows are asked for while the later stages compute on those at hand, each stage its share: memory
// then works all the time. With one stage only, what hardware does not see coming is asked for:
// transposed tiles, and the rows of a loop that jumps.
#include "src/codegen/cpu/prefetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/codegen/c_text.h"

namespace sinter {

using tile::Code;
using tile::Instr;

namespace {

bool is_heavy(const Stage& stage) {
  return std::any_of(stage.elements.begin(), stage.elements.end(), [](const Instr* instr) {
    return instr->code == Code::pointwise && info(instr->op).cost >= kHeavyCost;
  });
}

// The stages that ask for what stage 0 loads.
std::vector<int> asking_stages(const CpuValues& values, const std::vector<Stage>& stages,
                               const std::string& counter) {
  if (values.program.caching != tile::Caching::nothing || stages[0].loop) return {};
  const bool crosses =
      std::any_of(stages[0].elements.begin(), stages[0].elements.end(),
                  [&](const Instr* instr) { return values.is_transposed(*instr); });
  if (crosses || counter != "program") return {0};
  // Stages that compute much leave memory idle; where there is none, all later ones share.
  auto later_stages = [&](bool heavy_only) {
    std::vector<int> found;
    for (std::size_t s = 1; s < stages.size(); ++s)
      if (!stages[s].loop && !stages[s].sinks.empty() && (!heavy_only || is_heavy(stages[s])))
        found.push_back(static_cast<int>(s));
    return found;
  };
  std::vector<int> later = later_stages(true);
  if (later.empty()) later = later_stages(false);
  // Shares are halves or quarters, so that dividing costs nothing; the last stages take them.
  while (later.size() > 4 || later.size() == 3) later.erase(later.begin());
  return later;
}

// The address in the part of the row that falls to share `k` of `shares`.
std::string share_of(const std::string& address, std::size_t k, std::size_t shares) {
  if (shares == 1) return address;
  return replace_words(address, [&](const std::string& word) {
    return word == "c" ? fmt::format("({} * cols + c) / {}", k, shares) : word;
  });
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
  const std::vector<int> asking = asking_stages(values, stages, counter);
  if (asking.empty()) return plan;
  const NextValues next_values(values, stages[0], counter, next);
  for (const Instr* instr : stages[0].elements) {
    if (instr->code != Code::load) continue;
    const auto& offsets = values.index.affine(instr->args[0]);
    const bool transposed = values.is_transposed(*instr);
    if (!offsets || !(transposed || offsets->col_step == "1")) continue;
    Affine ahead = *offsets;
    ahead.base = next_values.at_next(ahead.base);
    if (transposed) {
      plan.stages[0].next_tiles[instr->results[0]] =
          fmt::format("{} + ({})", values.buffer_name(*instr), ahead.base);
      continue;
    }
    for (std::size_t k = 0; k < asking.size(); ++k)
      plan.stages[asking[k]].lines.push_back(
          fmt::format("__builtin_prefetch({}, 0, 2);",
                      share_of(values.address(*instr, ahead), k, asking.size())));
  }
  if (!plan.stages.empty()) plan.declarations = next_values.declarations();
  return plan;
}

}  // namespace sinter
