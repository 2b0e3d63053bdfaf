// Tuner: measures the candidates of one kernel on its device and keeps the fastest.
// In: a group of a plan with real buffers. Out: the config, its time and the heuristic's.
// Candidates are compiled on all of the host's cores that the process may use, a batch at a time,
// and timed in turns with the best so far while no compiler runs.
#pragma once

#include <functional>
#include <string>

#include "src/lower/lower.h"
#include "src/runtime/device.h"
#include "src/tune/choice.h"

namespace sinter {

// Where a kernel's buffers are. Of those that it writes, the contents are lost and then right.
using BindBuffer = std::function<tile::BufferBinding(const KernelBuffer&)>;

struct TuneTarget {
  const Plan& plan;
  int group = 0;
  BindBuffer bind;
  std::optional<TunedChoice> known;  // tuned before: measured first
};

struct TuningProgress {
  std::size_t done = 0;  // candidates
  std::size_t total = 0;
  double heuristic_us = 0;
  double best_us = 0;
};

struct TunerOptions {
  double seconds = 10;      // looked at between candidates; the heuristic is always measured
  bool same_bits = false;   // candidates that add in the heuristic's order, checked bit by bit
  int compile_threads = 0;  // 0: as many as there are cores to use
  // False: stop, with the best so far.
  std::function<bool(const TuningProgress&)> progress = nullptr;
  std::function<double()> now = nullptr;  // seconds, of any beginning; the steady clock by default
};

struct TunedKernel {
  std::string name;
  Config heuristic;
  Config config;  // the heuristic's where nothing is better by 2 % beyond the noise
  double heuristic_us = 0;
  double us = 0;       // of `config`, in turns with the heuristic
  int candidates = 0;  // without duplicates; the heuristic is one
  int duplicates = 0;  // the same text as another
  int measured = 0;    // to the end
  int stopped = 0;     // far slower at their first samples
  int failed = 0;      // did not compile or did not launch
  int wrong = 0;       // another result than the heuristic's
  std::string first_failure;
  bool finished = true;  // false: the time was over before all were tried

  bool changed() const { return !(choice_of(config) == choice_of(heuristic)); }
};

// DeviceError, CompileError where even the heuristic's kernel does not run.
TunedKernel tune_kernel(Device& device, const TuneTarget& target, const TunerOptions& options);

}  // namespace sinter
