// Later stages prefetch the next rows while they compute on the current ones, each stage a share,
// so that memory stays busy. A single stage prefetches what the hardware prefetcher misses:
// transposed tiles, the strided rows of a loop, and, where computation leaves memory idle, the next
// page.
#include "src/codegen/cpu/prefetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/codegen/c_text.h"
#include "src/codegen/value_names.h"

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::ValueId;

namespace {

bool is_heavy(const Stage& stage) {
  return std::any_of(stage.elements.begin(), stage.elements.end(), [](const Instr* instr) {
    return instr->code == Code::pointwise && info(instr->op).cost >= kHeavyCost;
  });
}

// The stages that prefetch the loads of stage 0.
std::vector<int> asking_stages(const CpuValues& values, const std::vector<Stage>& stages,
                               ValueId counter) {
  if (values.program.caching != tile::Caching::nothing || stages[0].loop) return {};
  const bool crosses =
      std::any_of(stages[0].elements.begin(), stages[0].elements.end(),
                  [&](const Instr* instr) { return values.is_transposed(*instr); });
  if (crosses || counter != kNoValue) return {0};
  // Compute-heavy stages leave memory idle; if there are none, all later stages share the work.
  auto later_stages = [&](bool heavy_only) {
    std::vector<int> found;
    for (std::size_t s = 1; s < stages.size(); ++s)
      if (!stages[s].loop && !stages[s].sinks.empty() && (!heavy_only || is_heavy(stages[s])))
        found.push_back(static_cast<int>(s));
    return found;
  };
  std::vector<int> later = later_stages(true);
  if (later.empty()) later = later_stages(false);
  // Use 1, 2 or 4 stages, the last ones, so that dividing by the number of shares is cheap.
  while (later.size() > 4 || later.size() == 3) later.erase(later.begin());
  return later;
}

// Hardware prefetchers stop at the ends of pages. Long rows only: after short ones may come memory
// that is not read.
void prefetch_next_page(const CpuValues& values, const Stage& stage, Prefetches& plan) {
  constexpr int kPageBytes = 4096;
  for (const Instr* instr : stage.elements) {
    if (instr->code != Code::load || values.rows(instr->results[0]) > 1) continue;
    const auto& offsets = values.index.affine(instr->args[0]);
    if (!offsets || !offsets->col_step.is_one()) continue;
    const int ahead =
        kPageBytes / static_cast<int>(size_of(values.program[instr->results[0]].dtype));
    plan.stages[0].lines.push_back(
        fmt::format("__builtin_prefetch({} + ({}), 0, 2);", values.buffer_name(*instr),
                    values.names.text(*offsets, "r", fmt::format("(c + {})", ahead))));
  }
}

// The column to prefetch in part `k` of a row divided into `shares` parts.
std::string column_of_share(std::size_t k, std::size_t shares) {
  return shares == 1 ? "c" : fmt::format("({} * cols + c) / {}", k, shares);
}

// Scalars that depend on the counter, named `_next` for their value at its next value.
class NextValues {
 public:
  NextValues(const CpuValues& values, const Stage& stage, ValueId counter, const std::string& next)
      : names_(values.names) {
    if (counter != kNoValue)
      move(counter);
    else
      tile::for_each_instr(values.program.body, [&](const Instr& instr) {
        if (instr.code == Code::program_id) move(instr.results[0]);
      });
    declarations_.push_back(fmt::format(
        "const i64 {}_next = {};", counter == kNoValue ? "program" : values.name(counter), next));
    for (const Instr* instr : stage.scalars) {
      if (instr->code != Code::pointwise || !depends_on_moving(*instr)) continue;
      const ValueId id = instr->results[0];
      const std::string expression = values.scalar_expression(*instr, names_);
      move(id);
      declarations_.push_back(
          fmt::format("const {} {} = {};", values.type(id), names_[id], expression));
    }
  }

  const ValueNames& names() const { return names_; }
  const std::vector<std::string>& declarations() const { return declarations_; }

 private:
  void move(ValueId id) {
    moving_.insert(id);
    names_.rename(id, names_[id] + "_next");
  }
  bool depends_on_moving(const Instr& instr) const {
    return std::any_of(instr.args.begin(), instr.args.end(),
                       [&](ValueId id) { return moving_.count(id) > 0; });
  }

  ValueNames names_;
  std::set<ValueId> moving_;
  std::vector<std::string> declarations_;
};

}  // namespace

Prefetches plan_prefetches(const CpuValues& values, const std::vector<Stage>& stages,
                           ValueId counter, const std::string& next) {
  Prefetches plan;
  const bool streams = values.program.caching == tile::Caching::nothing;
  if (streams && stages.size() == 1 && counter == kNoValue && is_heavy(stages[0])) {
    prefetch_next_page(values, stages[0], plan);
    if (!plan.stages.empty()) return plan;
  }
  const std::vector<int> asking = asking_stages(values, stages, counter);
  if (asking.empty()) return plan;
  const NextValues next_values(values, stages[0], counter, next);
  for (const Instr* instr : stages[0].elements) {
    if (instr->code != Code::load) continue;
    const auto& offsets = values.index.affine(instr->args[0]);
    const bool transposed = values.is_transposed(*instr);
    if (!offsets || !(transposed || offsets->col_step.is_one())) continue;
    const std::string buffer = values.buffer_name(*instr);
    if (transposed) {
      plan.stages[0].next_tiles[instr->results[0]] =
          fmt::format("{} + ({})", buffer, next_values.names().text(offsets->base));
      continue;
    }
    for (std::size_t k = 0; k < asking.size(); ++k)
      plan.stages[asking[k]].lines.push_back(
          fmt::format("__builtin_prefetch({} + ({}), 0, 2);", buffer,
                      next_values.names().text(*offsets, "r", column_of_share(k, asking.size()))));
  }
  if (!plan.stages.empty()) plan.declarations = next_values.declarations();
  return plan;
}

}  // namespace sinter
