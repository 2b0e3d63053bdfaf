// Selects the clock for BenchOptions.
#pragma once

#include <sinter/bench.h>

#include <memory>

#include "src/runtime/stopwatch.h"

namespace sinter {

// UserError for invalid options, DeviceError if the clock is unavailable.
std::unique_ptr<Stopwatch> stopwatch_for(const BenchOptions& options);

}  // namespace sinter
