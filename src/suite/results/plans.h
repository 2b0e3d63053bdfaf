// The plans of a run: one per case and dtype, plus one for each shape that is fused differently.
#pragma once

#include <string>
#include <vector>

#include "src/suite/results/results.h"

namespace sinter::suite {

// Adds the shape to a plan that is alike, or adds a new plan.
void add_plan(std::vector<CasePlan>& plans, const ResultRow& row, PlanInfo plan);

}  // namespace sinter::suite
