// The memory controllers' events as described by sysfs: what to open to count memory traffic. In:
// the directory of the kernel's event sources. Out: events, or why there are none.
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
  std::vector<int> processors;  // one per socket
  double bytes = 0;             // bytes per count
};

struct MemoryEvents {
  std::vector<MemoryEvent> events;  // all or none
  std::string why_none;
};

inline constexpr char kEventSources[] = "/sys/bus/event_source/devices";

// Reads and writes of every uncore_imc* under `directory` (Intel memory controllers).
MemoryEvents find_memory_events(const std::string& directory = kEventSources);

// --- parsing of sysfs files; nullopt if malformed ---

// "0,28" or "0-3,8"
std::optional<std::vector<int>> parse_processors(std::string_view text);

// Bit positions of a term: "config:0-7,32-35" takes the lowest eight bits first.
struct BitRange {
  int low = 0;
  int high = 0;
};
struct TermFormat {
  int word = 0;  // 0, 1, 2: config, config1, config2
  std::vector<BitRange> ranges;
};
std::optional<TermFormat> parse_format(std::string_view text);

// Parses "event=0x04,umask=0x03" given the formats of `event` and `umask`. Sets the three configs.
std::optional<PerfEvent> parse_event(std::string_view text,
                                     const std::map<std::string, TermFormat>& formats);

}  // namespace sinter
