// Schedule: how a block of tile instructions becomes loops. Instructions fall into stages; a stage
// is its scalar statements, then one loop over the elements of tiles of one shape. Reductions end a
// stage, and so does what must come before a load or store; values that a later stage needs are
// computed again if that is cheap, else kept in a scratch tile.
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
  std::vector<const tile::Instr*> elements;  // what the loop computes, in order
  std::vector<const tile::Instr*> sinks;     // what it is for: reductions and stores
  std::vector<tile::ValueId> kept;           // values it leaves in scratch tiles
  std::vector<tile::ValueId> yields;         // what the block's loop carries on, in tiles
  const tile::Instr* loop = nullptr;         // then the stage is that loop alone

  bool keeps(tile::ValueId id) const;
};

// Facts about a whole program that all its blocks share.
struct ProgramFacts {
  explicit ProgramFacts(const tile::TileProgram& program);

  std::map<tile::ValueId, const tile::Instr*> definition;
  std::set<tile::ValueId> crosses_blocks;  // tiles defined in one block and used in an inner one
};

// What a later stage does about a load that it needs.
enum class Loads : std::uint8_t {
  again,      // memory near the processor still has it
  stay,       // it stays where it was loaded to: GPUs, whose threads have room for it
  stay_late,  // likewise, but is not loaded before the first stage that needs it
};

// `yields`: values the block hands to its loop's next trip.
std::vector<Stage> schedule(const tile::TileProgram& program, const ProgramFacts& facts,
                            const IndexAnalysis& index, const std::vector<tile::Instr>& block,
                            const std::vector<tile::ValueId>& yields, Loads loads = Loads::again);

// A load that is contiguous along the tile's rows but not along its columns.
bool is_transposed_load(const tile::TileProgram& program, const IndexAnalysis& index,
                        const tile::Instr& instr);

}  // namespace sinter
