// Two runs against each other, for people and for programs.
#pragma once

#include <string>

#include "cli/json_output.h"
#include "src/suite/compare.h"

namespace sinter::cli {

// What changed beyond the noise, cases first; what could not be compared.
std::string comparison_text(const suite::Comparison& comparison, const std::string& before);
Json comparison_json(const suite::Comparison& comparison);

}  // namespace sinter::cli
