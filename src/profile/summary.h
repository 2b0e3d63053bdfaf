// Summarizes time samples: median, quantiles, minimum.
#pragma once

#include <sinter/bench.h>

#include <vector>

namespace sinter {

// The smallest sample that `share` of the samples do not exceed. `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double share);

// Sets all fields but calls_per_sample. Keeps the samples if the options say so.
BenchResult summary(std::vector<double> samples, const BenchOptions& options = {});

}  // namespace sinter
