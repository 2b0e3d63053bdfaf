// The loops over one stage's elements: rows around vectors of columns.
// In: a stage and what it leaves behind. Out: lines of C++.
#pragma once

#include <vector>

#include "src/codegen/analysis/schedule.h"
#include "src/codegen/c_writer.h"
#include "src/codegen/cpu/prefetch.h"
#include "src/codegen/cpu/scratch.h"
#include "src/codegen/cpu/values.h"

namespace sinter {

// A tile that a loop carries, and its value for the next trip.
struct TileUpdate {
  tile::ValueId tile;
  tile::ValueId next;
};

// `ahead`: what the stage asks for while it computes.
void render_elements(const CpuValues& values, ScratchTiles& scratch, CWriter& code,
                     const Stage& stage, const std::vector<TileUpdate>& updates,
                     const StagePrefetches& ahead);

}  // namespace sinter
