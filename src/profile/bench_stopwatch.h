// The timing of sinter/bench.h with a given stopwatch. In: functions, and a stopwatch that outlives
// the call. Out: as in sinter/bench.h.
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

// `most_calls`: calls between two waits; a full device queue would block the caller.
double host_cost_us(const std::function<void()>& run, const BenchOptions& options,
                    Stopwatch& stopwatch, int most_calls = kHostCalls);

}  // namespace sinter
