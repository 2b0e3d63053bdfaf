// Tuner: measures the candidates of one kernel on its device and keeps the fastest. In: a group of
// a plan with real buffers. Out: the config, its time and the heuristic's. Candidates are compiled
// in batches on all available host cores, and timed in turns with the best so far while no compiler
// runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/lower/family.h"
#include "src/runtime/device.h"
#include "src/tune/choice.h"

namespace sinter {

// Addresses of a kernel's buffers. Tuning overwrites its outputs and leaves them correct.
using BindBuffer = std::function<tile::BufferBinding(const KernelBuffer&)>;

struct TuneTarget {
  const Plan& plan;
  GroupId group = 0;
  Machine machine;  // the device's, with the libraries the program may call
  BindBuffer bind;
  std::optional<TunedChoice> known;  // tuned before; measured first
};

struct TuningProgress {
  std::size_t done = 0;  // candidates
  std::size_t total = 0;
  double heuristic_us = 0;
  double best_us = 0;
};

struct TunerOptions {
  double seconds = 10;      // checked between candidates; the heuristic is always measured
  bool same_bits = false;   // only candidates that sum in the heuristic's order, compared bitwise
  int compile_threads = 0;  // 0: all available cores
  // Returning false stops with the best so far.
  std::function<bool(const TuningProgress&)> progress = nullptr;
  std::function<double()> now = nullptr;  // seconds from any origin; the steady clock by default
};

struct Trial {
  Config config;
  double us = 0;
};

struct TunedKernel {
  std::string name;
  Config heuristic;
  std::vector<RuleText> rules;  // those that chose the heuristic's config
  Config config;  // the heuristic's unless another is over 2 % faster beyond the noise
  double heuristic_us = 0;
  double us = 0;              // time of `config`, in turns with the heuristic
  std::vector<Trial> trials;  // all that ran and computed the same, the heuristic first
  int candidates = 0;         // without duplicates, including the heuristic
  int duplicates = 0;         // same text as another
  int measured = 0;           // to the end
  int stopped = 0;            // abandoned after the first samples: much slower
  int failed = 0;             // failed to compile or launch
  int wrong = 0;              // result differed from the heuristic's
  std::string first_failure;
  bool finished = true;  // false: the time ran out before all were tried

  bool changed() const { return !(choice_of(config) == choice_of(heuristic)); }
};

// DeviceError, CompileError if even the heuristic's kernel does not run.
TunedKernel tune_kernel(Device& device, const TuneTarget& target, const TunerOptions& options);

}  // namespace sinter
