// Quantiles are samples, never interpolated.
#include "src/profile/summary.h"

#include <algorithm>
#include <cmath>

namespace sinter {

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::lround(place))];
}

BenchResult summary(std::vector<double> samples, const BenchOptions& options) {
  BenchResult result;
  if (options.keep_samples) result.samples_us = samples;
  std::sort(samples.begin(), samples.end());
  result.median_us = quantile(samples, 0.5);
  result.p20_us = quantile(samples, 0.2);
  result.p80_us = quantile(samples, 0.8);
  result.min_us = samples.front();
  result.samples = static_cast<int>(samples.size());
  for (double share : options.quantiles) result.quantiles_us.push_back(quantile(samples, share));
  return result;
}

}  // namespace sinter
