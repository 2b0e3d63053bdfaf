// Work of a plan's kernels besides moving bytes, counted from its operations: the evidence for
// causes (src/suite/report/causes.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/suite/results/results.h"

namespace sinter::suite {

struct PlanWork {
  double operations = 0;      // approximate instructions per element of the case
  double all_operations = 0;  // of all elements, at the plan's first shape
  double written_share = 0;   // of the bytes its kernels move
  // Expensive operations (at least kHeavyCost) computed for every element: how many of each, and
  // the instructions of all of them.
  std::map<std::string, int> heavy;
  int heavy_cost = 0;
  bool reduces = false;
  // Reductions in sequence before the last operation on every element: each must complete before
  // the next begins.
  int reductions_in_turn = 0;
};

PlanWork work_of(const CasePlan& plan);

// What a kernel's `tiles` says about its execution; ones if it says nothing.
struct TileFacts {
  int cluster = 1;  // blocks that share a row
  int passes = 1;   // over its input
};
TileFacts facts_of(const std::vector<std::string>& tiles);  // maximum over all kernels

}  // namespace sinter::suite
