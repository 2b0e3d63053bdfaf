// Timing as in sinter/bench.h, by the clock of the device that does the work.
// In: functions, and a stopwatch that outlives the call. Out: as there.
#pragma once

#include <sinter/bench.h>

#include <functional>
#include <span>
#include <vector>

#include "src/runtime/stopwatch.h"

namespace sinter {

std::vector<BenchResult> bench_in_turns(std::span<const std::function<void()>> runs,
                                        const BenchOptions& options, Stopwatch& stopwatch);

inline constexpr int kHostCalls = 100;

// `most_calls` between two waits: a device's queue that is full makes the caller wait.
double host_cost_us(const std::function<void()>& run, const BenchOptions& options,
                    Stopwatch& stopwatch, int most_calls = kHostCalls);

}  // namespace sinter
