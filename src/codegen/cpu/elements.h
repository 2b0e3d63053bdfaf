// The loops over one stage's elements: an outer loop over rows, an inner one over column vectors.
// In: a stage and the tiles it updates. Out: lines of C++.
#pragma once

#include <vector>

#include "src/codegen/analysis/schedule.h"
#include "src/codegen/c_writer.h"
#include "src/codegen/cpu/prefetch.h"
#include "src/codegen/cpu/scratch.h"
#include "src/codegen/cpu/values.h"

namespace sinter {

// A loop-carried tile, and its value for the next iteration.
struct TileUpdate {
  tile::ValueId tile;
  tile::ValueId next;
};

// `prefetches`: those the stage issues while it computes.
void render_elements(const CpuValues& values, ScratchTiles& scratch, CWriter& code,
                     const Stage& stage, const std::vector<TileUpdate>& updates,
                     const StagePrefetches& prefetches);

}  // namespace sinter
