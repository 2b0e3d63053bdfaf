// What a plan's kernels do besides moving bytes, counted from its operations: the grounds for
// saying what bounds a row (src/suite/report/causes.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/suite/results/results.h"

namespace sinter::suite {

struct PlanWork {
  double operations = 0;     // simple instructions for each element of the case, about
  double written_share = 0;  // of the bytes that its kernels move
  // Expensive operations (kHeavyCost and more) that are computed for every element: how many of
  // each, and the instructions of all of them.
  std::map<std::string, int> heavy;
  int heavy_cost = 0;
  bool reduces = false;
  // Reductions that follow each other before the last operation on every element: each has to be
  // complete before the next begins.
  int reductions_in_turn = 0;
};

PlanWork work_of(const CasePlan& plan);

// What a kernel's `tiles` says of how it runs; ones where it says nothing.
struct TileFacts {
  int cluster = 1;  // blocks that hold a row together
  int passes = 1;   // over its input
};
TileFacts facts_of(const std::vector<std::string>& tiles);  // the largest of all kernels

}  // namespace sinter::suite
