// report.html: a readable page of a run, in one file that needs no network. The page, style and
// scripts are the files of src/suite/report/page/, filled in with the run's results.json. In:
// Results. Out: HTML.
#pragma once

#include <string>

#include "src/suite/results/results.h"

namespace sinter::suite {

// With `compared_with`, an earlier run, the page also shows how much faster each row became and
// what got slower beyond the noise.
std::string report_html(const Results& results, const Results* compared_with = nullptr);

// Writes DIR/report.html atomically. Returns its path; UserError.
std::string write_report(const std::string& directory, const Results& results,
                         const Results* compared_with = nullptr);

}  // namespace sinter::suite
