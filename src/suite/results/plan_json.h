// Fusion plans as JSON, for results.json and `sinter explain --json`.
#pragma once

#include <nlohmann/json.hpp>

#include "src/suite/results/results.h"

namespace sinter::suite {

// {"nodes": .., "edges": .., "kernels": ..}
nlohmann::ordered_json plan_to_json(const PlanInfo& plan);

// The same with the case, its dtype and the shapes that share the plan.
nlohmann::ordered_json case_plan_to_json(const CasePlan& each);
CasePlan case_plan_from_json(const nlohmann::ordered_json& json);  // throws BadField

}  // namespace sinter::suite
