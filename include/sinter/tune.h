// Tuning: measures alternative configs of a function's kernels on the GPU its inputs are on, and
// stores those that beat the heuristic in the tuning file, for this and later processes.
// docs/TUNING.md explains how it works and how to ship a file.
#pragma once

#include <sinter/compile.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

struct TuneProgress {
  int kernel = 0;  // index below `kernels`
  int kernels = 0;
  std::size_t candidate = 0;  // index below `candidates` of this kernel
  std::size_t candidates = 0;
  double heuristic_us = 0;
  double best_us = 0;
};

struct TuneOptions {
  double seconds = 10;  // for all kernels together; checked between candidates
  // Returning false stops the tuning and keeps what was found.
  std::function<bool(const TuneProgress&)> progress = nullptr;
};

// A config that was measured.
struct TuningTrial {
  std::string config;  // description
  double us = 0;       // the median, of a few samples if it was abandoned
};

struct KernelTuning {
  std::string name;
  std::string config;  // description; the heuristic's config unless another was over 2 % faster
  std::string heuristic;
  std::vector<PlanRule> rules;      // those that chose the heuristic's config
  double us = 0;                    // launch time with `config`, cold L2
  double heuristic_us = 0;          // the heuristic's, measured in turns with it
  bool changed = false;             // `config` is not the heuristic's
  bool finished = true;             // false: the time ran out before all candidates were tried
  std::vector<TuningTrial> trials;  // all that ran and computed the same, the heuristic's first
  int candidates = 0;               // distinct kernels, including the heuristic's
  int measured = 0;
  int stopped = 0;  // abandoned after the first samples: much slower
  int failed = 0;   // failed to compile or launch
  int wrong = 0;    // result differed from the heuristic's; never used
  std::string first_failure;
};

struct TuneReport {
  std::vector<KernelTuning> kernels;  // in execution order
  std::string file;                   // the tuning file
  double seconds = 0;
};

// Later calls with such inputs use the configs found. For a function compiled with `deterministic`,
// only configs that give the same bits are tried. Similar sizes share results; programs this
// process has already built for them do not change. UserError if the inputs are not on a GPU or the
// file cannot be written.
TuneReport tune(const CompiledFunction& function, const Arguments& inputs,
                const TuneOptions& options = {});

}  // namespace sinter
