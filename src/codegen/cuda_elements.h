// The stages of a block of tile instructions that work on tiles' elements, as CUDA text: loads into
// registers first, so that many are under way at once; then loops over a thread's elements, with
// stores; then reductions among threads. In: a Stage. Out: text, and where its tiles are.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/codegen/c_writer.h"
#include "src/codegen/cuda_values.h"
#include "src/codegen/schedule.h"

namespace sinter {

// A tile that a loop carries, and its value for the next trip.
struct CudaTileUpdate {
  tile::ValueId carried = tile::kNoValue;
  tile::ValueId next = tile::kNoValue;
};

// What the text so far has left behind.
struct CudaState {
  std::set<tile::ValueId> arrays;               // tiles in registers
  std::map<tile::ValueId, std::string> shared;  // tiles in shared memory: element's text
  std::int64_t shared_bytes = 0;
  int loop_depth = 0;
  bool first_loads = true;   // nothing has been loaded yet: what comes is far away
  bool cluster_met = false;  // every block of the cluster is known to run
};

void render_cuda_elements(const CudaValues& values, CudaState& state, CWriter& code,
                          const Stage& stage, const std::vector<CudaTileUpdate>& updates);

// Waits until the cluster's other blocks run, once: before that nothing can be put into them.
void meet_cluster(const CudaValues& values, CudaState& state, CWriter& code);

// Starts a loop over a thread's rows of tiles of that height, or a block where it has but one.
void open_rows(const CudaValues& values, CWriter& code, tile::TileShape shape);

}  // namespace sinter
