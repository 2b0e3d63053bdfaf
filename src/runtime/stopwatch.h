// Stopwatch: times work where it happens. The CPU's looks at the wall clock; a GPU's puts events
// around the work on its stream.
#pragma once

#include <functional>
#include <memory>

namespace sinter {

class Stopwatch {
 public:
  virtual ~Stopwatch() = default;

  // One sample: `calls` calls of `run`, from cold caches where the device's caches are flushed.
  // Waits for their end. Microseconds a call.
  virtual double time(const std::function<void()>& run, int calls) = 0;

  // Waits for all work given so far, timed or not.
  virtual void wait() = 0;

  // Whether one call can be told from the next: if not, short ones are timed several at once.
  virtual bool resolves_single_calls() const = 0;
};

std::unique_ptr<Stopwatch> wall_stopwatch();

}  // namespace sinter
