// The random set of a run: its limits on a device, and its workloads. In: options with a seed, a
// device. Out: the set with limits; workloads, in the order drawn.
#pragma once

#include "src/suite/cases/random_set.h"
#include "src/suite/measure/runner.h"
#include "src/suite/measure/select.h"

namespace sinter::suite {

// options.random with the cases, dtypes and limits that the options do not give. A resumed run
// keeps its limits: with others, some of its cells would be different ones. UserError for a program
// file.
RandomSet complete_set(const SuiteOptions& options, const Device& device);

Selection select_random(const RandomSet& set);

}  // namespace sinter::suite
