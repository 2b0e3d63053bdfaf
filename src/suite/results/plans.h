// The plans of a run: one for each case and type, and one more for each shape that is fused
// differently.
#pragma once

#include <string>
#include <vector>

#include "src/suite/results/results.h"

namespace sinter::suite {

// Adds the shape to the plan that looks the same, or a new one.
void add_plan(std::vector<CasePlan>& plans, const ResultRow& row, PlanInfo plan);

}  // namespace sinter::suite
