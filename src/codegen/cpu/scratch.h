// ScratchTiles: allocates scratch memory for values that later stages or iterations need.
// In: values, on demand. Out: the names and addresses of their tiles, and the total size.
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

  // Records the last uses in the stages of the outermost block: dead values' memory is reused.
  void note_last_uses(const std::vector<Stage>& stages);
  void begin_stage(int stage) { stage_ = stage; }

  bool has(tile::ValueId id) const { return names_.count(id) != 0; }
  // The value's tile, allocated on first use.
  const std::string& tile(tile::ValueId id);
  // Uses one tile for both: a loop's result is the last carried value.
  void share(tile::ValueId result, tile::ValueId carried);
  // Address of the tile's vector at row r and column c.
  std::string address(tile::ValueId id);

  const std::vector<std::string>& declarations() const { return declarations_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t place_for(tile::ValueId id);

  const CpuValues& values_;
  std::map<tile::ValueId, std::string> names_;
  std::vector<std::string> declarations_;
  std::vector<std::pair<tile::ValueId, std::size_t>> owners_;  // the value at each offset
  std::size_t bytes_ = 0;
  std::map<tile::ValueId, int> last_use_;  // stage of the outermost block
  int stage_ = 0;                          // the stage being rendered
};

}  // namespace sinter
