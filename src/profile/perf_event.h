// Linux's counters: one event of one thread or one processor, opened, started, stopped, read.
// In: what to count and where. Out: a count, or a line that says why there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sinter {

// As perf_event_attr has them.
struct PerfEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
};

PerfEvent instructions_event();  // that finished

// A count while it was on the processor's counters, and how long that was.
struct PerfCount {
  std::uint64_t value = 0;
  std::uint64_t nanoseconds_enabled = 0;
  std::uint64_t nanoseconds_running = 0;
};

// What the event would have counted had it run all the time: more events than counters share them
// in turns. None where it never had its turn.
std::optional<double> scaled(const PerfCount& count);

// Owns an event's file. Opened stopped, at zero.
class PerfCounter {
 public:
  // The thread's work in user space, and that of the threads it makes from now on.
  static PerfCounter open_thread(const PerfEvent& event, int thread_id);
  // All that happens at a processor, whoever does it.
  static PerfCounter open_processor(const PerfEvent& event, int processor);

  PerfCounter(PerfCounter&& other) noexcept;
  PerfCounter& operator=(PerfCounter&& other) noexcept;
  PerfCounter(const PerfCounter&) = delete;
  PerfCounter& operator=(const PerfCounter&) = delete;
  ~PerfCounter();

  int error() const { return error_; }  // an errno; 0: open
  void start() const;
  void stop() const;
  std::optional<PerfCount> read() const;

 private:
  PerfCounter(int fd, int error) : fd_(fd), error_(error) {}
  int fd_;
  int error_;
};

// What perf_event_open's errno means, and what would help. `paranoid` is the system's setting, none
// where it cannot be read; `needed` the largest that would do.
std::string why_not_counted(int error, std::optional<int> paranoid, int needed);
std::optional<int> perf_event_paranoid();

}  // namespace sinter
