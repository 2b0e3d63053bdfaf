// Hardware counters around a piece of work: the instructions of the whole process, worker threads
// included, and the bytes that went to and from memory.
// In: the work. Out: numbers a call, or a line that says why there are none and what would help.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/profile/memory_events.h"
#include "src/profile/perf_event.h"

namespace sinter {

struct CounterReading {
  // Of all threads in user space, those that wait for work by spinning too.
  std::optional<std::int64_t> instructions;
  // Of the whole machine: what other processes moved meanwhile is in it. Needs CAP_PERFMON, or
  // perf_event_paranoid = 0 or less.
  std::optional<std::int64_t> bytes;
  std::string why_no_instructions;
  std::string why_no_bytes;
};

// What is read. Tests put an event and a directory here that every machine has.
struct CounterSources {
  PerfEvent thread_event = instructions_event();
  std::string event_sources = kEventSources;
};

// Runs `work` `calls` times, whether or not it can be counted. Throws what the work throws.
CounterReading count(const std::function<void()>& work, int calls,
                     const CounterSources& sources = {});

}  // namespace sinter
