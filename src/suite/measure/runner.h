// Runs cases: each with fusion and without, checked, then timed against each other and against a
// copy. What goes wrong in one case becomes its row's error; the sweep goes on.
// In: SuiteOptions. Out: Results, and a call of `progress` before and after each case and shape.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/suite/cases/case.h"
#include "src/suite/peers/peers.h"
#include "src/suite/results/results.h"

namespace sinter::suite {

struct SuiteOptions {
  std::vector<std::string> cases;  // empty: all
  std::vector<Shape2> shapes;
  std::vector<DType> dtypes{DType::f32};
  std::vector<std::string> providers{"eager", "fused"};
  std::vector<std::string> peers;  // "torch"
  PeerOptions peer_options;        // how they are started
  std::string device = "cpu";
  double seconds = 0.4;  // of timing, for each case and shape, in two visits
  // Combinations "case shape type" to be measured, of all that the lists give; empty: all.
  std::set<std::string> only;
  // A run that was stopped: what it finished is kept and not measured again. UserError where it is
  // of another machine or another build of Sinter.
  std::optional<Results> resumed;
  // Passed through to the results.
  std::string command_line;
  std::optional<std::string> commit;
};

std::vector<Shape2> shapes_of_set(const std::string& set);  // "quick", "grid"; UserError
std::vector<std::string> set_names();

struct Progress {
  const Results& results;  // so far
  // Of `total` visits to a case, shape and type, resumed ones included; before them, of `total`
  // graphs that a peer compiles ahead.
  std::size_t done = 0;
  std::size_t total = 0;
  // The same by the time it takes: a first visit, which checks and has peers, takes far longer than
  // a later one.
  double work = 0;
  double all_work = 0;
  std::string next;  // what is measured now, or "compiling for" a peer; empty at the end
};
// False: stop here, with what there is.
using ProgressCallback = std::function<bool(const Progress&)>;

// UserError for names that are not known, before anything is run.
Results run_suite(const SuiteOptions& options, const ProgressCallback& progress);

}  // namespace sinter::suite
