// What commands print with --json: one JSON text on stdout, and nothing else there.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sinter::cli {

using Json = nlohmann::ordered_json;

// Indented, with a newline at the end. Bytes that are no UTF-8 (a path may have some) are replaced.
std::string json_text(const Json& json);
void print_json(const Json& json);

// The suite's cases: [{"case": "softmax", "formula": .., "runs": true}, ..., {"case": "conv_add",
// "runs": false, "reason": ..}], as text that can be printed.
std::string cases_json();

}  // namespace sinter::cli
