// One pass backwards: every use comes after its definition, and what a loop hands on is used by its
// next trip.
#include "src/tile/dead_values.h"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>
#include <utility>

#include "src/base/check.h"

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
    return has_effect(instr) ||
           std::any_of(instr.results.begin(), instr.results.end(),
                       [&](ValueId id) { return used_[static_cast<std::size_t>(id)] != 0; });
  }
  void use(const std::vector<ValueId>& ids) {
    for (ValueId id : ids)
      if (id != kNoValue) used_[static_cast<std::size_t>(id)] = 1;
  }

  std::vector<char> used_;  // by value
};

void for_each_definition(const TileProgram& program, const std::function<void(ValueId)>& visit) {
  for_each_instr(program.body, [&](const Instr& instr) {
    for (ValueId id : instr.results) visit(id);
    for (ValueId id : instr.body_params) visit(id);
  });
}

void rename(std::vector<Instr>& block, const std::vector<ValueId>& names) {
  const auto rename_all = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids)
      if (id != kNoValue) id = names[static_cast<std::size_t>(id)];
  };
  for (Instr& instr : block) {
    rename_all(instr.results);
    rename_all(instr.args);
    rename_all(instr.body_params);
    rename_all(instr.body_yields);
    rename(instr.body, names);
  }
}

// Numbers the values that have a definition from 0 on.
void renumber(TileProgram& program) {
  std::vector<ValueId> names(program.values.size(), kNoValue);
  for_each_definition(program, [&](ValueId id) { names[static_cast<std::size_t>(id)] = 0; });
  std::vector<Value> values;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == kNoValue) continue;
    names[i] = static_cast<ValueId>(values.size());
    values.push_back(program.values[i]);
  }
  rename(program.body, names);
  program.values = std::move(values);
}

}  // namespace

void remove_dead_values(TileProgram& program) {
  Liveness(program).visit(program.body, [](std::vector<Instr>& block, std::size_t i) {
    block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
  });
  renumber(program);
}

void verify_no_waste(const TileProgram& program) {
  Liveness(program).visit(program.body, [&](const std::vector<Instr>& block, std::size_t i) {
    SINTER_ASSERT(false, "nothing uses v{} in kernel {}", block[i].results.at(0), program.name);
  });
  std::set<std::tuple<DType, std::uint64_t, std::int64_t>> constants;
  for_each_instr(program.body, [&](const Instr& instr) {
    if (instr.code != Code::constant) return;
    const ValueId id = instr.results[0];
    const bool is_new =
        constants
            .emplace(program[id].dtype, std::bit_cast<std::uint64_t>(instr.real), instr.integer)
            .second;
    SINTER_ASSERT(is_new, "v{} is another value's constant in kernel {}", id, program.name);
  });
}

}  // namespace sinter::tile
