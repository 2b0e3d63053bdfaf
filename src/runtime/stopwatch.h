// Stopwatch: times work where it happens. The CPU's returns when the work has; a GPU's puts events
// around the work on its stream and reads them later, so that the queue stays full.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace sinter {

class Stopwatch {
 public:
  virtual ~Stopwatch() = default;

  // One sample: `calls` calls of `run`, from cold caches where the device's caches are flushed.
  // May return before the work has ended.
  virtual void time(const std::function<void()>& run, int calls) = 0;

  // Waits for the samples begun since the last finish(). Microseconds a call of each, in order.
  virtual std::vector<double> finish() = 0;

  // Waits for all work given so far, timed or not.
  virtual void wait() = 0;

  // Whether one call can be told from the next: if not, short ones are timed several at once.
  virtual bool resolves_single_calls() const = 0;
};

std::unique_ptr<Stopwatch> wall_stopwatch();

}  // namespace sinter
