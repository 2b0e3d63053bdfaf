// One row as JSON, for everything that holds rows: results.json, results.csv, a peer's answer.
#pragma once

#include <nlohmann/json.hpp>

#include "src/suite/results/results.h"

namespace sinter::suite {

nlohmann::ordered_json row_to_json(const ResultRow& row);
// Throws BadField if a field is missing, has the wrong type, or makes no sense.
ResultRow row_from_json(const nlohmann::ordered_json& json);

}  // namespace sinter::suite
