// Renumbers the instructions first, then the table of values.
#include "src/tile/renumber.h"

#include <algorithm>
#include <utility>

namespace sinter::tile {
namespace {

void renumber(std::vector<Instr>& block, const ById<ValueId, ValueId>& numbers) {
  const auto renumber_all = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids)
      if (id != kNoValue) id = numbers[id];
  };
  for (Instr& instr : block) {
    renumber_all(instr.results);
    renumber_all(instr.args);
    renumber_all(instr.body_params);
    renumber_all(instr.body_yields);
    renumber(instr.body, numbers);
  }
}

}  // namespace

void renumber_values(TileProgram& program, const ById<ValueId, ValueId>& numbers) {
  renumber(program.body, numbers);
  const auto dropped = std::count(numbers.begin(), numbers.end(), kNoValue);
  ById<ValueId, Value> values(numbers.size() - static_cast<std::size_t>(dropped));
  for (ValueId id = 0; id < numbers.end_id(); ++id)
    if (numbers[id] != kNoValue) values[numbers[id]] = program.values[id];
  program.values = std::move(values);
}

}  // namespace sinter::tile
