// A row is timed in several visits, minutes apart in a long run: a disturbance during one of them
// shows in the spread and seldom decides the median.
#include <algorithm>

#include "src/profile/summary.h"
#include "src/suite/results/results.h"

namespace sinter::suite {
namespace {

LimitRatio ratio_of(const std::vector<double>& times, const std::vector<double>& limits) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < times.size(); ++i) ratios.push_back(times[i] / limits[i]);
  std::sort(ratios.begin(), ratios.end());
  return {quantile(ratios, 0.5), quantile(ratios, 0.2), quantile(ratios, 0.8)};
}

}  // namespace

void ResultRow::add_samples(const std::vector<double>& times, const std::vector<double>& limit) {
  samples_us.insert(samples_us.end(), times.begin(), times.end());
  limit_samples_us.insert(limit_samples_us.end(), limit.begin(), limit.end());
  timing = summary(samples_us);
  // Without memory for the limit, a visit has no samples to pair with.
  if (limit_samples_us.size() != samples_us.size()) return;
  limit_us = summary(limit_samples_us).median_us;
  limit_ratio = ratio_of(samples_us, limit_samples_us);
}

}  // namespace sinter::suite
