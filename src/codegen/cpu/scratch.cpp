// Scratch takes up cache, so a value reuses the memory of a dead one, or of one whose last use is
// in the same stage: it is then overwritten element by element.
#include "src/codegen/cpu/scratch.h"

#include <fmt/format.h>

#include <set>

#include "src/codegen/c_text.h"

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::ValueId;

// Values that loops read have no last use: their memory is not reused.
void ScratchTiles::note_last_uses(const std::vector<Stage>& stages) {
  std::set<ValueId> started;  // initial values of loop-carried tiles
  for (const Stage& stage : stages)
    if (stage.loop) started.insert(stage.loop->args.begin(), stage.loop->args.end());
  for (std::size_t s = 0; s < stages.size(); ++s)
    for (const auto* instrs : {&stages[s].elements, &stages[s].sinks})
      for (const Instr* instr : *instrs)
        for (ValueId arg : instr->args)
          if (arg != kNoValue && !values_.facts.crosses_blocks.count(arg) && !started.count(arg) &&
              values_.facts.definition.at(arg)->code != Code::loop)
            last_use_[arg] = static_cast<int>(s);
}

const std::string& ScratchTiles::tile(ValueId id) {
  auto [it, fresh] = names_.try_emplace(id, fmt::format("tile{}", id));
  if (!fresh) return it->second;
  const std::string_view type = storage_type(values_.program[id].dtype);
  declarations_.push_back(
      fmt::format("{}* const {} = ({}*)(scratch + {});", type, it->second, type, place_for(id)));
  return it->second;
}

void ScratchTiles::share(ValueId result, ValueId carried) { names_[result] = tile(carried); }

std::string ScratchTiles::address(ValueId id) {
  const std::string& name = tile(id);
  if (values_.rows(id) == 1) return fmt::format("{} + c", name);
  return fmt::format("{} + r * {} + c", name, values_.cols(id));
}

std::size_t ScratchTiles::place_for(ValueId id) {
  const tile::Value& value = values_.program[id];
  const bool whole_at_once = values_.is_transposed(*values_.facts.definition.at(id));
  for (auto& [owner, at] : owners_) {
    const tile::Value& old = values_.program[owner];
    const auto last = last_use_.find(owner);
    if (last == last_use_.end() || old.shape != value.shape ||
        size_of(old.dtype) != size_of(value.dtype))
      continue;
    if (last->second > stage_ || (whole_at_once && last->second == stage_)) continue;
    owner = id;
    return at;
  }
  const std::size_t offset = bytes_;
  const std::size_t size =
      static_cast<std::size_t>(value.shape.rows * value.shape.cols) * size_of(value.dtype);
  bytes_ += (size + 127) / 64 * 64;  // cache-line aligned, with padding for whole vectors
  owners_.emplace_back(id, offset);
  return offset;
}

}  // namespace sinter
