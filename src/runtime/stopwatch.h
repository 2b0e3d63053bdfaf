// Stopwatch: times work on a device. The CPU's uses the wall clock; a GPU's records events on its
// stream.
#pragma once

#include <functional>
#include <memory>

namespace sinter {

class Stopwatch {
 public:
  virtual ~Stopwatch() = default;

  // One sample: `calls` calls of `run`, with cold caches where the device flushes them. Blocks
  // until they finish. Returns microseconds per call.
  virtual double time(const std::function<void()>& run, int calls) = 0;

  // Waits for all work submitted so far, timed or not.
  virtual void wait() = 0;

  // True if single calls can be timed; if not, short ones are timed in batches.
  virtual bool resolves_single_calls() const = 0;
};

std::unique_ptr<Stopwatch> wall_stopwatch();

}  // namespace sinter
