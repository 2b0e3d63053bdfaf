// Times several things against each other, in turns, so that noise hits all alike.
// In: functions to call. Out: how long a call of each takes, the median and the spread.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace sinter::suite {

struct Timing {
  double median_us = 0;
  double p20_us = 0;
  double p80_us = 0;
  int samples = 0;
};

struct TimingBudget {
  double seconds = 0.4;  // for all together, after warming up
  int min_samples = 5;   // whatever the seconds say
};

// A sample is one call, or the mean of as many as fill 200 us. Before short ones comes an
// unmeasured call: what is timed is a call after a call, with what fits into the caches in them.
std::vector<Timing> time_in_turns(std::span<const std::function<void()>> runs,
                                  const TimingBudget& budget);

}  // namespace sinter::suite
