// The table at the end of `sinter suite`: fused against eager against the limit, one line per case,
// shape and dtype.
#pragma once

#include <string>

#include "src/suite/results/results.h"

namespace sinter::cli {

std::string suite_table(const suite::Results& results);
// Rows with errors and wrong results, one line each; empty if there are none.
std::string suite_failures(const suite::Results& results);
// How many fused rows are far from their limit and the probable causes, on one line; empty if there
// are none.
std::string far_text(const suite::Results& results);

}  // namespace sinter::cli
