// Two runs against each other, for people.
#pragma once

#include <string>

#include "src/suite/results/compare.h"

namespace sinter::cli {

// What changed beyond the noise, cases first; what could not be compared.
std::string comparison_text(const suite::Comparison& comparison, const std::string& before);

}  // namespace sinter::cli
