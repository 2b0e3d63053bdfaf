// Output of --json: one JSON text on stdout and nothing else.
#pragma once

#include <sinter/plan.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sinter::cli {

using Json = nlohmann::ordered_json;

// Indented, newline-terminated. Invalid UTF-8 (possible in a path) is replaced.
std::string json_text(const Json& json);
void print_json(const Json& json);

// [{"part": "threads", "name": .., "reason": ..}, ...]
Json rules_json(const std::vector<PlanRule>& rules);

// The suite's cases: [{"case": "softmax", "formula": .., "runs": true}, ...,
// {"case": .., "runs": false, "reason": ..}], as JSON text.
std::string cases_json();

}  // namespace sinter::cli
