// Times two functions in turns and decides whether one is faster beyond the noise.
#pragma once

#include <functional>
#include <vector>

#include "src/runtime/stopwatch.h"

namespace sinter {

struct Contest {
  double champion_us = 0;  // medians
  double challenger_us = 0;
  double ratio = 1;      // challenger's time / champion's, median over pairs
  double noise = 0;      // two standard errors of the ratio
  bool stopped = false;  // the challenger's first samples were much slower

  // Faster by more than 2 %, beyond the noise.
  bool is_won() const;
};

// Alternates samples for `rounds` rounds; stops early if the challenger cannot win.
Contest hold_contest(const std::function<void()>& champion, const std::function<void()>& challenger,
                     int rounds, Stopwatch& stopwatch);

}  // namespace sinter
