// What the random set says, at the end of `sinter suite`. In: Results. Out: text for stdout.
#pragma once

#include <string>

#include "src/suite/results/results.h"

namespace sinter::cli {

// Shares of cells that keep the rules, and the worst cells with a command for each; empty for runs
// of other sets.
std::string random_text(const suite::Results& results);

}  // namespace sinter::cli
