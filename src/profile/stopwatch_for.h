// The clock that a bench's options ask for.
#pragma once

#include <sinter/bench.h>

#include <memory>

#include "src/runtime/stopwatch.h"

namespace sinter {

// UserError for options that make no sense, DeviceError where there is no such clock.
std::unique_ptr<Stopwatch> stopwatch_for(const BenchOptions& options);

}  // namespace sinter
