// Measures suspicious cells of a run again before they are reported: a disturbance seldom hits the
// same cell twice. In: a run and its options. Out: the run with some rows replaced, and a note.
#pragma once

#include "src/suite/measure/runner.h"

namespace sinter::suite {

// Those that look slower than in an older run, or cannot be judged, up to three times. Keeps what
// was taken under conditions more like the older run's, or the faster times.
void measure_again(const Results& before, const SuiteOptions& options,
                   const ProgressCallback& progress, Results& now);

// Those that look slower than the best peer, or are far from the copy, together with the peers and
// up to twice. The last measurement counts: an outlier is reported if it was one every time.
void measure_outliers_again(const SuiteOptions& options, const ProgressCallback& progress,
                            Results& now);

}  // namespace sinter::suite
