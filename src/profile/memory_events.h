// The events of the memory controllers, as sysfs describes them: what to open to count the bytes
// that go between the processors and memory.
// In: the directory of the kernel's event sources. Out: events, or a line that says why not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/profile/perf_event.h"

namespace sinter {

struct MemoryEvent {
  PerfEvent event;
  std::vector<int> processors;  // one of each socket
  double bytes = 0;             // that a count of one stands for
};

struct MemoryEvents {
  std::vector<MemoryEvent> events;  // all of them or none
  std::string why_none;
};

inline constexpr char kEventSources[] = "/sys/bus/event_source/devices";

// Reads and writes of all the uncore_imc* under `directory` (Intel's memory controllers).
MemoryEvents find_memory_events(const std::string& directory = kEventSources);

// --- the texts of sysfs; none where they are not what they should be ---

// "0,28" or "0-3,8"
std::optional<std::vector<int>> parse_processors(std::string_view text);

// Where the bits of a term go: "config:0-7,32-35" takes the lowest eight first.
struct BitRange {
  int low = 0;
  int high = 0;
};
struct TermFormat {
  int word = 0;  // 0, 1, 2: config, config1, config2
  std::vector<BitRange> ranges;
};
std::optional<TermFormat> parse_format(std::string_view text);

// "event=0x04,umask=0x03" with the formats of `event` and `umask`. Sets the three configs.
std::optional<PerfEvent> parse_event(std::string_view text,
                                     const std::map<std::string, TermFormat>& formats);

}  // namespace sinter
