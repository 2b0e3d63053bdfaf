// What "near the copy" and "not slower" mean, the same on every page and in every table: the
// numbers of src/suite/report/page/rules.json, which the page and scripts/results_table.py read
// too.
#pragma once

#include "src/suite/results/results.h"

namespace sinter::suite {

struct Rules {
  double far_apart = 0;  // p80 over p20 of samples that something else disturbed
  double large_bytes = 0;
  double near_copy_large = 0;  // of cells that move at least large_bytes
  double near_copy = 0;
};
const Rules& rules();

// For rows with a limit_ratio; false for others.
bool is_near_copy(const ResultRow& row);

}  // namespace sinter::suite
