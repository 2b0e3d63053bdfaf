// The definitions of "near the copy" and "not slower" for every page and table: the numbers in
// src/suite/report/page/rules.json, which the page and scripts/results_table.py read too.
#pragma once

#include "src/suite/results/results.h"

namespace sinter::suite {

struct Rules {
  double far_apart = 0;  // p80 / p20 of disturbed samples
  double large_bytes = 0;
  double near_copy_large = 0;  // for cells that move at least large_bytes
  double near_copy = 0;
};
const Rules& rules();

// False for rows without a limit_ratio.
bool is_near_copy(const ResultRow& row);

}  // namespace sinter::suite
