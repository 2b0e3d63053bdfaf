// Numbers the stages first, then finds what each has to compute, from the last stage to the first.
#include "src/codegen/analysis/schedule.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "src/base/check.h"
#include "src/tile/access.h"

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::TileProgram;
using tile::ValueId;

namespace {

constexpr int kCheapToRepeat = 4;  // simple instructions, a load counting as one

void note_crossings(const std::vector<Instr>& block, const std::set<ValueId>& visible,
                    ProgramFacts& facts) {
  std::set<ValueId> own;
  for (const Instr& instr : block) {
    for (ValueId arg : instr.args)
      if (arg != kNoValue && visible.count(arg)) facts.crosses_blocks.insert(arg);
    if (instr.code == Code::loop) {
      std::set<ValueId> outside = visible;
      outside.insert(own.begin(), own.end());
      note_crossings(instr.body, outside, facts);
      for (ValueId yield : instr.body_yields)
        if (outside.count(yield)) facts.crosses_blocks.insert(yield);
    }
    own.insert(instr.results.begin(), instr.results.end());
    for (ValueId id : instr.results) facts.definition[id] = &instr;
    for (ValueId id : instr.body_params) facts.definition[id] = &instr;
  }
}

}  // namespace

ProgramFacts::ProgramFacts(const TileProgram& program) { note_crossings(program.body, {}, *this); }

bool Stage::keeps(ValueId id) const {
  return std::find(kept.begin(), kept.end(), id) != kept.end();
}

bool is_transposed_load(const TileProgram& program, const IndexAnalysis& index,
                        const Instr& instr) {
  if (instr.code != Code::load || program[instr.results[0]].shape.rows < tile::kLeastTransposedRows)
    return false;
  if (instr.args[1] != kNoValue) {
    // Tiles are moved from their first row on, and on the CPU from their first column on.
    const auto& mask = index.mask(instr.args[1]);
    if (!mask || mask->row_first) return false;
    if (mask->col_first && index.forms() != IndexForms::atoms) return false;
  }
  const auto& offsets = index.affine(instr.args[0]);
  // Other atoms are those of the elements that a thread computes, not of those it would load.
  return offsets && offsets->row_step.is_one() && !offsets->col_step.is_zero() &&
         !offsets->col_step.is_one() && index.row_skew(*offsets);
}

namespace {

enum class Kind { scalar, row, element };

class Scheduler {
 public:
  Scheduler(const TileProgram& program, const ProgramFacts& facts, const IndexAnalysis& index,
            Loads loads)
      : program_(program), facts_(facts), index_(index), loads_(loads) {}

  std::vector<Stage> run(const std::vector<Instr>& block, const std::vector<ValueId>& yields) {
    number_stages(block);
    if (loads_ == Loads::stay_late) delay(block, yields);
    for (const Instr& instr : block) place(instr);
    for (ValueId id : yields) {
      // The last stage writes the carried tiles, after all reads of the old values.
      if (kind_of(id) == Kind::element) yields_.push_back(id);
    }
    if (!yields_.empty() && stages_.back().loop) stages_.push_back({});
    ById<int, std::vector<Stage>> parts(stages_.size());
    for (int s = stages_.end_id(); s-- > 0;) parts[s] = filled(s);
    std::vector<Stage> all;
    for (std::vector<Stage>& each : parts)
      std::move(each.begin(), each.end(), std::back_inserter(all));
    return all;
  }

 private:
  Kind kind_of(ValueId id) const {
    const tile::TileShape shape = program_[id].shape;
    if (shape.is_scalar()) return Kind::scalar;
    return shape.cols == 1 ? Kind::row : Kind::element;
  }

  // An instruction's kind: a store's by its offsets, any other's by its result.
  Kind kind_of(const Instr& instr) const {
    if (instr.code == Code::store) return kind_of(instr.args[0]);
    return kind_of(instr.results[0]);
  }

  int ready(ValueId id) const {
    auto it = ready_.find(id);
    return it == ready_.end() ? 0 : it->second;
  }

  void number_stages(const std::vector<Instr>& block) {
    int floor = 0;
    int last = 0;
    for (const Instr& instr : block) {
      int stage = floor;
      for (ValueId arg : instr.args)
        if (arg != kNoValue) stage = std::max(stage, ready(arg));
      if (instr.code == Code::loop) {
        stage = last + 1;
        floor = stage + 1;
      }
      if (instr.code == Code::load || instr.code == Code::store)
        stage = stage_in_order(instr, stage);
      const bool ends = instr.code == Code::loop || instr.code == Code::reduce;
      for (ValueId id : instr.results) ready_[id] = stage + (ends ? 1 : 0);
      stage_of_[&instr] = stage;
      last = std::max(last, stage + (instr.code == Code::loop ? 1 : 0));
    }
    stages_.resize(static_cast<std::size_t>(last) + 1);
  }

  // Moves loads and computations of tiles to the first stage that uses them, to shorten live ranges
  // and save registers.
  void delay(const std::vector<Instr>& block, const std::vector<ValueId>& yields) {
    std::map<ValueId, int> first_use;
    const auto note = [&](ValueId id, int stage) {
      if (id == kNoValue) return;
      const auto [it, fresh] = first_use.emplace(id, stage);
      it->second = std::min(it->second, stage);
    };
    for (ValueId id : yields) note(id, static_cast<int>(stages_.size()) - 1);
    for (std::size_t i = block.size(); i-- > 0;) {
      const Instr& instr = block[i];
      int& stage = stage_of_.at(&instr);
      if (can_wait(instr))
        if (const auto it = first_use.find(instr.results[0]); it != first_use.end()) {
          stage = std::max(stage, it->second);
          ready_[instr.results[0]] = stage;
        }
      // Values used in a loop must be available before it.
      const int used = instr.code == Code::loop ? stage - 1 : stage;
      for (ValueId arg : instr.args) note(arg, used);
      for (ValueId id : instr.body_yields) note(id, used);
      tile::for_each_instr(instr.body, [&](const Instr& inner) {
        for (ValueId arg : inner.args) note(arg, used);
        for (ValueId id : inner.body_yields) note(id, used);
      });
    }
  }

  bool can_wait(const Instr& instr) const {
    const bool computes = instr.code == Code::pointwise || instr.code == Code::cast ||
                          instr.code == Code::broadcast || instr.code == Code::load;
    return computes && kind_of(instr) == Kind::element && !is_written(instr);
  }

  // Keeps the order of loads and stores to one buffer by putting them in different stages, except
  // for stores to the same elements.
  int stage_in_order(const Instr& instr, int stage) {
    Accesses& before = accesses_[instr.index];
    if (instr.code == Code::load) {
      if (before.store) stage = std::max(stage, before.last_store + 1);
      before.last_load = std::max(before.last_load, stage);
      return stage;
    }
    stage = std::max(stage, before.last_load + 1);
    if (before.store)
      stage = std::max(stage, before.last_store + (writes_same(*before.store, instr) ? 0 : 1));
    before.last_store = stage;
    before.store = &instr;
    return stage;
  }

  bool writes_same(const Instr& a, const Instr& b) const {
    const auto& offsets = index_.affine(b.args[0]);
    return a.args[0] == b.args[0] && offsets && offsets->col_step.is_one() &&
           program_[b.args[0]].shape.rows == 1;
  }

  void place(const Instr& instr) {
    Stage& stage = stages_[stage_of_.at(&instr)];
    if (instr.code == Code::loop) {
      stage.loop = &instr;
    } else if (instr.code == Code::reduce) {
      stage.sinks.push_back(&instr);
    } else if (kind_of(instr) == Kind::scalar) {
      stage.scalars.push_back(&instr);
    } else if (kind_of(instr) == Kind::row) {
      if (instr.code == Code::store || !index_.is_index(instr.results[0]))
        stage.rows.push_back(&instr);
    } else if (instr.code == Code::store) {
      stage.sinks.push_back(&instr);
    }
  }

  // Everything stage s computes, derived from its sinks and from the values later stages need: one
  // stage per shape, tallest first, because it may read old values that a flatter one updates.
  std::vector<Stage> filled(int s) {
    Stage& stage = stages_[s];
    if (stage.loop) {
      for (std::size_t i = 3; i < stage.loop->args.size(); ++i) require_kept(stage.loop->args[i]);
      return {std::move(stage)};
    }
    const bool is_last = s + 1 == stages_.end_id();
    std::map<std::pair<std::int64_t, std::int64_t>, Stage> by_shape;
    auto part = [&](ValueId id) -> Stage& {
      return by_shape[{-program_[id].shape.rows, program_[id].shape.cols}];
    };
    for (const Instr* sink : stage.sinks) part(sink->args[0]).sinks.push_back(sink);
    for (ValueId id : kept_at_[s]) part(id).kept.push_back(id);
    for (const auto& [id, at] : ready_)
      if (at == s && facts_.crosses_blocks.count(id) && needs_array(id) && kept_.insert(id).second)
        part(id).kept.push_back(id);
    if (is_last)
      for (ValueId id : yields_) part(id).yields.push_back(id);
    std::vector<Stage> parts;
    for (auto& [shape, each] : by_shape) {
      find_elements(each, s);
      parts.push_back(std::move(each));
    }
    if (parts.empty()) parts.emplace_back();
    parts[0].scalars = std::move(stage.scalars);
    parts[0].rows = std::move(stage.rows);
    return parts;
  }

  void find_elements(Stage& part, int s) {
    needed_.clear();
    for (const Instr* sink : part.sinks)
      for (ValueId arg : sink->args)
        if (arg != kNoValue) need(arg, s);
    for (ValueId id : part.kept) compute(id, s);
    for (ValueId id : part.yields) need(id, s);
    for (ValueId id : needed_) part.elements.push_back(facts_.definition.at(id));
    // A block's instructions are contiguous in memory, so pointer order is program order.
    std::sort(part.elements.begin(), part.elements.end(), std::less<>());
  }

  bool is_tile(ValueId id) const { return kind_of(id) == Kind::element && !index_.is_index(id); }

  // Excludes splats, which are not worth keeping, and loop results, which already have an array.
  bool needs_array(ValueId id) const {
    const Instr& instr = *facts_.definition.at(id);
    const bool is_splat = instr.code == Code::broadcast && kind_of(instr.args[0]) == Kind::scalar;
    return is_tile(id) && !is_splat && instr.code != Code::loop;
  }

  void require_kept(ValueId id) {
    if (!needs_array(id) || !ready_.count(id) || !kept_.insert(id).second) return;
    kept_at_[ready_.at(id)].push_back(id);
  }

  // A load from a written buffer: loading again could give other values.
  bool is_written(const Instr& instr) const {
    return instr.code == Code::load && program_.buffers[instr.index].written;
  }

  // Stage s reads the value.
  void need(ValueId id, int s) {
    if (!is_tile(id) || needed_.count(id)) return;
    auto it = ready_.find(id);
    if (it == ready_.end()) return;  // defined outside this block: in a scratch tile
    const Instr& instr = *facts_.definition.at(id);
    if (instr.code == Code::loop) return;  // likewise
    if (it->second == s) return compute(id, s);
    if (kept_.count(id)) return;
    const bool stays = instr.code == Code::load && loads_ != Loads::again;
    if (stays || is_transposed_load(program_, index_, instr) || is_written(instr) ||
        repeat_cost(id, kCheapToRepeat) > kCheapToRepeat) {
      kept_.insert(id);
      kept_at_[it->second].push_back(id);
      return;
    }
    compute(id, s);
  }

  void compute(ValueId id, int s) {
    if (!needed_.insert(id).second) return;
    for (ValueId arg : facts_.definition.at(id)->args)
      if (arg != kNoValue) need(arg, s);
  }

  // Stops counting beyond the budget: shared values would be counted many times over.
  int repeat_cost(ValueId id, int budget) const {
    if (!is_tile(id) || kept_.count(id) || !ready_.count(id)) return 1;
    const Instr& instr = *facts_.definition.at(id);
    if (is_written(instr)) return 1;  // will be kept
    if (instr.code == Code::load && loads_ != Loads::again) return 1;
    if (instr.code == Code::load) {
      const auto& offsets = index_.affine(instr.args[0]);
      const bool even = offsets && (offsets->col_step.is_zero() || offsets->col_step.is_one());
      return even ? 1 : kHeavyCost;
    }
    if (instr.code != Code::pointwise && instr.code != Code::cast && instr.code != Code::broadcast)
      return kHeavyCost;
    int cost = instr.code == Code::pointwise ? std::max(1, info(instr.op).cost) : 1;
    for (ValueId arg : instr.args)
      if (is_tile(arg) && cost <= budget) cost += repeat_cost(arg, budget - cost);
    return cost;
  }

  // Stages of the accesses to one buffer.
  struct Accesses {
    int last_load = -1;
    int last_store = -1;
    const Instr* store = nullptr;
  };

  const TileProgram& program_;
  const ProgramFacts& facts_;
  const IndexAnalysis& index_;
  const Loads loads_;
  std::map<int, Accesses> accesses_;  // by buffer
  std::map<ValueId, int> ready_;      // the first stage that can use the value
  std::map<const Instr*, int> stage_of_;
  ById<int, Stage> stages_;
  std::vector<ValueId> yields_;
  std::set<ValueId> kept_;
  std::map<int, std::vector<ValueId>> kept_at_;
  std::set<ValueId> needed_;  // values the stage being filled computes
};

}  // namespace

std::vector<Stage> schedule(const TileProgram& program, const ProgramFacts& facts,
                            const IndexAnalysis& index, const std::vector<Instr>& block,
                            const std::vector<ValueId>& yields, Loads loads) {
  return Scheduler(program, facts, index, loads).run(block, yields);
}

}  // namespace sinter
