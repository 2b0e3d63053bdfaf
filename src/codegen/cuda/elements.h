// Renders the elements of a stage as CUDA text: loads first (CudaLoads); then loops over a thread's
// elements, with stores; then reductions across threads. In: a Stage. Out: text, and where its
// tiles are (CudaState).
#pragma once

#include <vector>

#include "src/codegen/analysis/schedule.h"
#include "src/codegen/c_writer.h"
#include "src/codegen/cuda/loads.h"
#include "src/codegen/cuda/values.h"

namespace sinter {

// A loop-carried tile, and its value for the next iteration.
struct CudaTileUpdate {
  tile::ValueId carried = tile::kNoValue;
  tile::ValueId next = tile::kNoValue;
};

void render_cuda_elements(const CudaValues& values, CudaState& state, CWriter& code,
                          const Stage& stage, const std::vector<CudaTileUpdate>& updates);

// Waits, once, until all blocks of the cluster have started: only then may a block write to the
// shared memory of another.
void sync_cluster(const CudaValues& values, CudaState& state, CWriter& code);

}  // namespace sinter
