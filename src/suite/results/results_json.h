// One row as JSON, for the files that hold rows: results.json, results.csv, a peer's answer. And a
// plan, for results.json and `sinter explain --json`.
#pragma once

#include <nlohmann/json.hpp>

#include "src/suite/results/results.h"

namespace sinter::suite {

nlohmann::ordered_json row_to_json(const ResultRow& row);
// Throws what is a std::exception where a field is missing, of another type, or makes no sense.
ResultRow row_from_json(const nlohmann::ordered_json& json);

// {"nodes": .., "edges": .., "kernels": ..}
nlohmann::ordered_json plan_to_json(const PlanInfo& plan);

}  // namespace sinter::suite
