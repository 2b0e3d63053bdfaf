// ScratchTiles: values that later stages or trips need, in memory of the running program's own.
// In: values as they are asked for. Out: their tiles' names and places, and how much that takes.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/codegen/analysis/schedule.h"
#include "src/codegen/cpu/values.h"

namespace sinter {

class ScratchTiles {
 public:
  explicit ScratchTiles(const CpuValues& values) : values_(values) {}

  // The stages of the outermost block: what they no longer read gives its place away.
  void note_last_uses(const std::vector<Stage>& stages);
  void begin_stage(int stage) { stage_ = stage; }

  bool has(tile::ValueId id) const { return names_.count(id) != 0; }
  // The value's tile, made when first asked for.
  const std::string& tile(tile::ValueId id);
  // One tile for both: a loop's result is what it carried last.
  void share(tile::ValueId result, tile::ValueId carried);
  // Where the tile's vector at row r and column c begins.
  std::string address(tile::ValueId id);

  const std::vector<std::string>& declarations() const { return declarations_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t place_for(tile::ValueId id);

  const CpuValues& values_;
  std::map<tile::ValueId, std::string> names_;
  std::vector<std::string> declarations_;
  std::vector<std::pair<tile::ValueId, std::size_t>> owners_;  // who has which bytes
  std::size_t bytes_ = 0;
  std::map<tile::ValueId, int> last_use_;  // stage of the outermost block
  int stage_ = 0;                          // being rendered
};

}  // namespace sinter
