// Tunes a built program's kernels one by one, in execution order, with real buffers.
#pragma once

#include <sinter/tune.h>

#include <span>

#include "src/api/program_cache.h"
#include "src/tune/tuning_file.h"

namespace sinter {

// UserError for devices whose timings are meaningless or whose kernels have only one config.
void check_tunable(const Device& device);

// `traced` is built with the heuristic's configs. Faster ones are saved to the store.
TuneReport tune_program(const TracedProgram& traced, const Arguments& inputs,
                        const TuneOptions& options, TuningStore& store);

}  // namespace sinter
