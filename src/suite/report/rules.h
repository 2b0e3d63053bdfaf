// The definitions of "near the copy" and "not slower" for every page and table: the numbers in
// src/suite/report/page/rules.json, which the page and scripts/results_table.py read too.
#pragma once

#include "src/suite/results/results.h"

namespace sinter::suite {

// The largest ratios of a row's time to the copy's that count as near.
struct NearCopy {
  double large = 0;  // for cells that move at least Rules::large_bytes
  double small = 0;
};

struct Rules {
  double noise = 0;      // rival's time times this: not slower
  double far_apart = 0;  // p80 / p20 of disturbed samples
  double large_bytes = 0;
  NearCopy near_copy;
  NearCopy near_copy_random;  // in the random set, whose shapes are odd
};
const Rules& rules();

const NearCopy& near_copy_rule(const Results& results);

bool is_large(const ResultRow& row);
// False for rows without a limit_ratio.
bool is_near_copy(const ResultRow& row, const NearCopy& rule = rules().near_copy);

// A rival's time: the median, or p20 if its samples are far apart.
double steady_us(const BenchResult& timing);

}  // namespace sinter::suite
