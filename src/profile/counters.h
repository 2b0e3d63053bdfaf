// Hardware counters around a piece of work: instructions of the whole process, including worker
// threads, and memory traffic in bytes. In: the work. Out: values per call, or why there are none
// and how to enable them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/profile/memory_events.h"
#include "src/profile/perf_event.h"

namespace sinter {

struct CounterReading {
  // All threads in user space, including workers that spin.
  std::optional<std::int64_t> instructions;
  // Of the whole machine, so it includes other processes. Needs CAP_PERFMON or perf_event_paranoid
  // <= 0.
  std::optional<std::int64_t> bytes;
  std::string why_no_instructions;
  std::string why_no_bytes;
};

// The events to read. Tests substitute an event and a directory that every machine has.
struct CounterSources {
  PerfEvent thread_event = instructions_event();
  std::string event_sources = kEventSources;
};

// Runs `work` `calls` times, whether or not it can be counted. Rethrows exceptions of the work.
CounterReading count(const std::function<void()>& work, int calls,
                     const CounterSources& sources = {});

}  // namespace sinter
