// Schedule: how a block of tile instructions becomes loops. Instructions are divided into stages; a
// stage is its scalar statements, then one loop over the elements of tiles of one shape. Reductions
// end a stage, and so do memory dependences. Values that a later stage needs are recomputed if that
// is cheap, otherwise kept in a scratch tile.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "src/codegen/analysis/affine.h"
#include "src/tile/program.h"

namespace sinter {

struct Stage {
  std::vector<const tile::Instr*> scalars;   // results are (1, 1)
  std::vector<const tile::Instr*> rows;      // results or stored values are (rows, 1)
  std::vector<const tile::Instr*> elements;  // instructions of the loop body, in order
  std::vector<const tile::Instr*> sinks;     // reductions and stores of the loop
  std::vector<tile::ValueId> kept;           // values written to scratch tiles
  std::vector<tile::ValueId> yields;         // next values of loop-carried tiles
  const tile::Instr* loop = nullptr;         // if set, the stage is just this loop

  bool keeps(tile::ValueId id) const;
};

// Facts about a whole program, shared by all its blocks.
struct ProgramFacts {
  explicit ProgramFacts(const tile::TileProgram& program);

  std::map<tile::ValueId, const tile::Instr*> definition;
  std::set<tile::ValueId> crosses_blocks;  // tiles defined in one block and used in an inner one
};

// How a later stage gets a loaded value that it needs.
enum class Loads : std::uint8_t {
  again,      // loads it again: it is still in cache
  stay,       // it stays in registers: GPUs, whose threads have enough of them
  stay_late,  // likewise, but it is not loaded before the first stage that needs it
};

// `yields`: the next values of the tiles that the block's loop carries.
std::vector<Stage> schedule(const tile::TileProgram& program, const ProgramFacts& facts,
                            const IndexAnalysis& index, const std::vector<tile::Instr>& block,
                            const std::vector<tile::ValueId>& yields, Loads loads = Loads::again);

// A load that is contiguous along the tile's rows but not along its columns.
bool is_transposed_load(const tile::TileProgram& program, const IndexAnalysis& index,
                        const tile::Instr& instr);

}  // namespace sinter
