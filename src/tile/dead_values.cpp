// One backward liveness pass: every use comes after its definition, and the values a loop yields
// are uses by its next iteration.
#include "src/tile/dead_values.h"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>
#include <utility>

#include "src/base/check.h"
#include "src/tile/renumber.h"

namespace sinter::tile {
namespace {

bool has_effect(const Instr& instr) {
  return instr.code == Code::store || std::any_of(instr.body.begin(), instr.body.end(), has_effect);
}

class Liveness {
 public:
  explicit Liveness(const TileProgram& program) : used_(program.values.size(), 0) {}

  // Visits a block's instructions from last to first, a loop before its body. Calls `drop` with the
  // indices of the dead ones, last first.
  template <typename Block, typename Drop>
  void visit(Block& block, const Drop& drop) {
    std::vector<std::size_t> dead;
    for (std::size_t i = block.size(); i-- > 0;) {
      if (!is_live(block[i])) {
        dead.push_back(i);
        continue;
      }
      use(block[i].args);
      use(block[i].body_yields);
      if (!block[i].body.empty()) visit(block[i].body, drop);
    }
    if (!dead.empty()) drop(block, dead);
  }

 private:
  bool is_live(const Instr& instr) const {
    return has_effect(instr) || std::any_of(instr.results.begin(), instr.results.end(),
                                            [&](ValueId id) { return used_[id] != 0; });
  }
  void use(const std::vector<ValueId>& ids) {
    for (ValueId id : ids)
      if (id != kNoValue) used_[id] = 1;
  }

  ById<ValueId, char> used_;
};

void for_each_definition(const TileProgram& program, const std::function<void(ValueId)>& visit) {
  for_each_instr(program.body, [&](const Instr& instr) {
    for (ValueId id : instr.results) visit(id);
    for (ValueId id : instr.body_params) visit(id);
  });
}

// Removes values without a definition and renumbers the others from 0.
void drop_undefined(TileProgram& program) {
  ById<ValueId, ValueId> numbers(program.values.size(), kNoValue);
  for_each_definition(program, [&](ValueId id) { numbers[id] = 0; });
  ValueId next = 0;
  for (ValueId& number : numbers)
    if (number != kNoValue) number = next++;
  renumber_values(program, numbers);
}

}  // namespace

void remove_dead_values(TileProgram& program) {
  Liveness(program).visit(program.body,
                          [](std::vector<Instr>& block, const std::vector<std::size_t>& dead) {
                            auto next_dead = dead.rbegin();
                            std::size_t kept = 0;
                            for (std::size_t i = 0; i < block.size(); ++i) {
                              if (next_dead != dead.rend() && *next_dead == i)
                                ++next_dead;
                              else if (kept++ != i)
                                block[kept - 1] = std::move(block[i]);
                            }
                            block.resize(kept);
                          });
  drop_undefined(program);
}

void verify_no_waste(const TileProgram& program) {
  Liveness(program).visit(
      program.body, [&](const std::vector<Instr>& block, const std::vector<std::size_t>& dead) {
        SINTER_ASSERT(false, "nothing uses %{} in kernel {}", block[dead[0]].results.at(0),
                      program.name);
      });
  std::set<std::tuple<DType, std::uint64_t, std::int64_t>> constants;
  for_each_instr(program.body, [&](const Instr& instr) {
    if (instr.code != Code::constant) return;
    const ValueId id = instr.results[0];
    const bool is_new =
        constants
            .emplace(program[id].dtype, std::bit_cast<std::uint64_t>(instr.real), instr.integer)
            .second;
    SINTER_ASSERT(is_new, "%{} repeats another constant in kernel {}", id, program.name);
  });
}

}  // namespace sinter::tile
