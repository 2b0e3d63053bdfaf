// Going on with a run that was stopped: which of its rows stay, and whether they may.
// In: rows and runs. Out: fewer of them, or UserError.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "src/suite/results/results.h"

namespace sinter::suite {

// The stopped run without its failed rows. UserError unless `fresh`, a run that just began, has the
// same device, build, versions and time for each case.
Results continued(const Results& fresh, const Results& stopped);

// The titles for which every one of `providers` has a row. One visit will do: measuring again what
// a long sweep was stopped after would take as long as the sweep.
std::set<std::string> finished(const std::vector<ResultRow>& rows,
                               const std::vector<std::string>& providers);

// What failed while the suite was being stopped may have failed for that.
void drop_errors(std::vector<ResultRow>& rows, std::size_t from);
void drop_title(std::vector<ResultRow>& rows, const std::string& title);

}  // namespace sinter::suite
