// Tuning a built program: its kernels one by one, in the order they run, with real buffers.
#pragma once

#include <sinter/tune.h>

#include <span>

#include "src/api/program_cache.h"
#include "src/tune/tuning_file.h"

namespace sinter {

// UserError for devices whose times mean nothing, or whose kernels have one config.
void check_tunable(const Device& device);

// `traced` is built with the heuristic's configs. What is faster goes to the store.
TuneReport tune_program(const TracedProgram& traced, std::span<const Tensor> inputs,
                        const TuneOptions& options, TuningStore& store);

}  // namespace sinter
