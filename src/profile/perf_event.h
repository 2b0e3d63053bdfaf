// Linux performance counters: opens, starts, stops and reads one event of a thread or a processor.
// In: what to count and where. Out: a count, or why there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sinter {

// Fields of perf_event_attr.
struct PerfEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
};

PerfEvent instructions_event();  // retired instructions

// The count while it was scheduled on the hardware, and for how long.
struct PerfCount {
  std::uint64_t value = 0;
  std::uint64_t nanoseconds_enabled = 0;
  std::uint64_t nanoseconds_running = 0;
};

// Extrapolates the count to the whole time: events share the hardware counters in turns if there
// are too many. nullopt if it was never scheduled.
std::optional<double> scaled(const PerfCount& count);

// Owns an event's descriptor. Starts stopped, at zero.
class PerfCounter {
 public:
  // The thread's work in user space, and that of threads it creates from now on.
  static PerfCounter open_thread(const PerfEvent& event, int thread_id);
  // Everything on one processor.
  static PerfCounter open_processor(const PerfEvent& event, int processor);

  PerfCounter(PerfCounter&& other) noexcept;
  PerfCounter& operator=(PerfCounter&& other) noexcept;
  PerfCounter(const PerfCounter&) = delete;
  PerfCounter& operator=(const PerfCounter&) = delete;
  ~PerfCounter();

  int error() const { return error_; }  // an errno; 0 if open
  void start() const;
  void stop() const;
  std::optional<PerfCount> read() const;

 private:
  PerfCounter(int fd, int error) : fd_(fd), error_(error) {}
  int fd_;
  int error_;
};

// What perf_event_open's errno means and what would help. `paranoid` is the system's setting
// (nullopt if unreadable), `needed` the largest value that would do.
std::string why_not_counted(int error, std::optional<int> paranoid, int needed);
std::optional<int> perf_event_paranoid();

}  // namespace sinter
