// A comparison as JSON: every row's and every case's change, its noise and the verdict.
#pragma once

#include <nlohmann/json.hpp>

#include "src/suite/results/compare.h"

namespace sinter::suite {

nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace sinter::suite
