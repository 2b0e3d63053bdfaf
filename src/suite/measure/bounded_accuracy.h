// Errors of a program's results against evaluate_graph(), judged by the bound of each element. In:
// results and the reference. Out: a row's errors and its tolerance.
#pragma once

#include <span>
#include <vector>

#include "src/graph/bounded.h"
#include "src/suite/measure/workload.h"
#include "src/suite/reference/sample.h"

namespace sinter::suite {

// Skips elements without a useful bound (docs/MEASURING.md).
Checked check_bounded(std::span<const Tensor> outputs, const Sample& sample,
                      std::span<const std::vector<bounded::Bounded>> expected);

}  // namespace sinter::suite
