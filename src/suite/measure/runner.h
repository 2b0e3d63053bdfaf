// Runs cases and programs fused and unfused: checks them, then times them against each other and
// against a copy. A failure becomes that row's error; the sweep continues. In: SuiteOptions. Out:
// Results, and a call of `progress` before and after each case and shape.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/suite/cases/case.h"
#include "src/suite/cases/random_set.h"
#include "src/suite/peers/peers.h"
#include "src/suite/results/results.h"

namespace sinter::suite {

struct SuiteOptions {
  std::vector<std::string> cases;  // names of cases and paths of programs; empty: all cases
  std::vector<Shape2> shapes;      // of cases
  // Of programs: "4096x128" is for those that declare two sizes. Empty: their own sizes.
  std::vector<std::string> sizes;
  std::vector<DType> dtypes{DType::f32};
  // Instead of shapes: cells drawn over `cases` and `dtypes`.
  std::optional<RandomSet> random;
  std::vector<std::string> providers{"eager", "fused"};
  std::vector<std::string> peers;  // "torch"
  PeerOptions peer_options;        // how peers are started
  std::string device = "cpu";
  double seconds = 0.4;  // timing per case and shape, over two visits
  // Restricts the run to these combinations "case shape type"; empty: all.
  std::set<std::string> only;
  // A stopped run to continue: its finished rows are kept. UserError if it is from another machine
  // or another build of Sinter.
  std::optional<Results> resumed;
  // Copied to the results.
  std::string command_line;
  std::optional<std::string> commit;
};

inline constexpr const char* kRandomSet = "random";  // a RandomSet, the others have fixed shapes
std::vector<Shape2> shapes_of_set(const std::string& set);  // "quick", "grid"; UserError
std::vector<std::string> set_names();

struct Progress {
  const Results& results;  // so far
  // Visits to a case, shape and dtype, out of `total`, including resumed ones; before that, graphs
  // that a peer compiles ahead of time, out of `total`.
  std::size_t done = 0;
  std::size_t total = 0;
  // The same weighted by duration: a first visit, which checks results and runs peers, takes much
  // longer than a later one.
  double work = 0;
  double all_work = 0;
  std::string next;  // currently measured cell, or "compiling for" a peer; empty at the end
};
// Returning false stops with the results so far.
using ProgressCallback = std::function<bool(const Progress&)>;

// UserError for unknown names, before anything runs.
Results run_suite(const SuiteOptions& options, const ProgressCallback& progress);

}  // namespace sinter::suite
