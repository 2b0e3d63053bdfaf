// A comparison of two runs as text.
#pragma once

#include <string>

#include "src/suite/results/compare.h"

namespace sinter::cli {

// Changes beyond the noise, cases first; then what could not be compared.
std::string comparison_text(const suite::Comparison& comparison, const std::string& before);

}  // namespace sinter::cli
