// The table at the end of `sinter suite`: fused against eager against the limit, a line for each
// case, shape and type.
#pragma once

#include <string>

#include "src/suite/results/results.h"

namespace sinter::cli {

std::string suite_table(const suite::Results& results);
// Rows with errors and wrong results, a line each; empty where there are none.
std::string suite_failures(const suite::Results& results);
// How many fused rows are far from their limit and what probably bounds them, one line; empty where
// there are none.
std::string far_text(const suite::Results& results);

}  // namespace sinter::cli
