// The stages of a block of tile instructions that work on tiles' elements, as CUDA text: loads
// first (CudaLoads); then loops over a thread's elements, with stores; then reductions among
// threads. In: a Stage. Out: text, and where its tiles are.
#pragma once

#include <vector>

#include "src/codegen/analysis/schedule.h"
#include "src/codegen/c_writer.h"
#include "src/codegen/cuda/loads.h"
#include "src/codegen/cuda/values.h"

namespace sinter {

// A tile that a loop carries, and its value for the next trip.
struct CudaTileUpdate {
  tile::ValueId carried = tile::kNoValue;
  tile::ValueId next = tile::kNoValue;
};

void render_cuda_elements(const CudaValues& values, CudaState& state, CWriter& code,
                          const Stage& stage, const std::vector<CudaTileUpdate>& updates);

// Waits until the cluster's other blocks run, once: before that nothing can be put into them.
void sync_cluster(const CudaValues& values, CudaState& state, CWriter& code);

}  // namespace sinter
