// The workloads of a run. In: names of cases, paths of programs, shapes and dtypes. Out: every
// combination, in order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/suite/measure/runner.h"
#include "src/suite/measure/workload.h"

namespace sinter::suite {

struct Selection {
  std::vector<WorkloadPtr> workloads;
  // Hashes of the programs' texts ("program my" -> hash) and of the scripts that peers run for them
  // ("script of my"): a resumed run must use the same texts.
  std::map<std::string, std::string> programs;
  std::vector<std::string> notes;  // for the results
};

// UserError for an unknown case, a file that cannot be read or parsed, a program named like a case
// or another program, and sizes that no program declares.
Selection select_workloads(const SuiteOptions& options);

}  // namespace sinter::suite
