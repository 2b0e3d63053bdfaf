// Two functions timed in turns, and whether one is faster than the other beyond the noise.
#pragma once

#include <functional>
#include <vector>

#include "src/runtime/stopwatch.h"

namespace sinter {

struct Contest {
  double champion_us = 0;  // medians
  double challenger_us = 0;
  double ratio = 1;      // of the challenger's time to the champion's, median over the pairs
  double noise = 0;      // two standard errors of that
  bool stopped = false;  // the challenger's first samples were far slower

  // By more than 2 %, beyond the noise.
  bool is_won() const;
};

// A sample of each in turns, `rounds` times; after a few ends a contest that cannot be won.
Contest hold_contest(const std::function<void()>& champion, const std::function<void()>& challenger,
                     int rounds, Stopwatch& stopwatch);

}  // namespace sinter
