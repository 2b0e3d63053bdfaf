// Continues a stopped run: which of its rows are kept, and whether that is allowed. In: rows and
// runs. Out: fewer rows, or UserError.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "src/suite/results/results.h"

namespace sinter::suite {

// The stopped run without its failed rows. UserError unless `fresh`, a run that just began, has the
// same device, build, versions and time per case.
Results continued(const Results& fresh, const Results& stopped);

// Titles for which every one of `providers` has a row. One visit is enough: repeating the first
// visits of a long sweep would take as long as the sweep.
std::set<std::string> finished(const std::vector<ResultRow>& rows,
                               const std::vector<std::string>& providers);

// Errors that occurred while the suite was being stopped may be caused by that.
void drop_errors(std::vector<ResultRow>& rows, std::size_t from);
void drop_title(std::vector<ResultRow>& rows, const std::string& title);

}  // namespace sinter::suite
