// One backward pass: every use comes after its definition, and the values that a loop yields count
// as used by its next iteration.
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

  // Visits a block's instructions from last to first, loops' bodies after them: `drop` takes those
  // that are dead.
  template <typename Block, typename Drop>
  void visit(Block& block, const Drop& drop) {
    for (std::size_t i = block.size(); i-- > 0;) {
      if (!is_live(block[i])) {
        drop(block, i);
        continue;
      }
      use(block[i].args);
      use(block[i].body_yields);
      visit(block[i].body, drop);
    }
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

// Numbers the values that have a definition from 0 on.
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
  Liveness(program).visit(program.body, [](std::vector<Instr>& block, std::size_t i) {
    block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
  });
  drop_undefined(program);
}

void verify_no_waste(const TileProgram& program) {
  Liveness(program).visit(program.body, [&](const std::vector<Instr>& block, std::size_t i) {
    SINTER_ASSERT(false, "nothing uses %{} in kernel {}", block[i].results.at(0), program.name);
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
