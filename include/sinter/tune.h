// Tuning: measures other configs of a function's kernels on the GPU that its inputs are on, and
// keeps those that are faster than the heuristic's in the tuning file, for this and later
// processes. docs/TUNING.md says how it works and how to ship a file.
#pragma once

#include <sinter/compile.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

struct TuneProgress {
  int kernel = 0;  // of `kernels`
  int kernels = 0;
  std::size_t candidate = 0;  // of `candidates` of this kernel
  std::size_t candidates = 0;
  double heuristic_us = 0;
  double best_us = 0;
};

struct TuneOptions {
  double seconds = 10;  // for all kernels together; looked at between candidates
  // False: stop, and keep what has been found.
  std::function<bool(const TuneProgress&)> progress = nullptr;
};

struct KernelTuning {
  std::string name;
  std::string config;  // for people; the heuristic's where nothing was faster by 2 %
  std::string heuristic;
  double us = 0;            // of a launch with `config`, L2 cold
  double heuristic_us = 0;  // in turns with it
  bool changed = false;     // `config` is not the heuristic's
  bool finished = true;     // false: the time was over before all candidates were tried
  int candidates = 0;       // different kernels, the heuristic's included
  int measured = 0;
  int stopped = 0;  // far slower at their first samples
  int failed = 0;   // did not compile or did not launch
  int wrong = 0;    // gave another result than the heuristic's: never used
  std::string first_failure;
};

struct TuneReport {
  std::vector<KernelTuning> kernels;  // in the order they run
  std::string file;                   // where it is kept
  double seconds = 0;
};

// The next call with such inputs uses what was found. For a function compiled with `deterministic`
// only configs that give the same bits are tried. Results for other shapes of about the same size
// are shared; programs that this process has built for them stay as they are.
// UserError where the inputs are not on a GPU, or the file cannot be written.
TuneReport tune(const CompiledFunction& function, std::span<const Tensor> inputs,
                const TuneOptions& options = {});

}  // namespace sinter
