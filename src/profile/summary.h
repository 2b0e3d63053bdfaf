// Samples of a time -> median, quantiles, minimum.
#pragma once

#include <sinter/bench.h>

#include <vector>

namespace sinter {

// The sample below which `share` of them lie. `sorted` has one at least.
double quantile(const std::vector<double>& sorted, double share);

// Fills in everything but calls_per_sample. Keeps the samples where the options say so.
BenchResult summary(std::vector<double> samples, const BenchOptions& options = {});

}  // namespace sinter
