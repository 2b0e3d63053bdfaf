// A sample on the stream: flush, start event, the calls, end event. It waits for the last one.
// In: functions that put work on the stream. Out: microseconds, as the device counted them.
#include "src/cuda/event_stopwatch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/base/check.h"

namespace sinter {
namespace {

struct EventPair {
  CUevent start = nullptr;
  CUevent end = nullptr;
};

class EventStopwatch : public Stopwatch {
 public:
  EventStopwatch(CudaContextPtr context, CUstream stream);
  ~EventStopwatch() override;
  EventStopwatch(const EventStopwatch&) = delete;
  EventStopwatch& operator=(const EventStopwatch&) = delete;

  void time(const std::function<void()>& run, int calls) override;
  std::vector<double> finish() override;
  void wait() override;
  bool resolves_single_calls() const override { return true; }

 private:
  struct Sample {
    EventPair events;
    int calls = 1;
  };

  using Clock = std::chrono::steady_clock;

  EventPair make_events();
  void flush_caches();
  void destroy(const EventPair& events);

  CudaContextPtr context_;
  const CudaDriver& driver_;
  CUstream stream_;
  std::size_t flush_bytes_ = 0;
  CUdeviceptr flush_ = 0;
  std::vector<EventPair> idle_;
  std::vector<Sample> begun_;
  double host_seconds_ = 0;  // of the slowest call since the last finish()
};

EventStopwatch::EventStopwatch(CudaContextPtr context, CUstream stream)
    : context_(std::move(context)),
      driver_(context_->driver()),
      stream_(stream),
      flush_bytes_(cuda_flush_bytes(context_->description().l2_bytes)) {
  const ContextScope scope(*context_);
  driver_.mem_alloc(&flush_, flush_bytes_);  // last: what throws later has to free it
}

// Codes are ignored: after a fault on the device every call fails, and its memory is lost anyway.
EventStopwatch::~EventStopwatch() {
  CUresult code = 0;
  const ContextScope scope(*context_, code);
  if (code != 0) return;
  for (const EventPair& events : idle_) destroy(events);
  for (const Sample& sample : begun_) destroy(sample.events);
  driver_.mem_free.code(flush_);
}

void EventStopwatch::destroy(const EventPair& events) {
  driver_.event_destroy.code(events.start);
  driver_.event_destroy.code(events.end);
}

EventPair EventStopwatch::make_events() {
  constexpr unsigned kWithTiming = 0;
  EventPair events;
  driver_.event_create(&events.start, kWithTiming);
  if (const CUresult code = driver_.event_create.code(&events.end, kWithTiming)) {
    driver_.event_destroy.code(events.start);
    driver_.fail("cuEventCreate", code);
  }
  return events;
}

void EventStopwatch::time(const std::function<void()>& run, int calls) {
  SINTER_ASSERT(calls >= 1, "{} calls", calls);
  const ContextScope scope(*context_);
  if (idle_.empty()) idle_.push_back(make_events());
  // They stay among the idle ones until the sample is whole: run() may throw, and events can be
  // recorded again.
  const EventPair events = idle_.back();
  flush_caches();
  driver_.event_record(events.start, stream_);
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < calls; ++i) run();
  host_seconds_ =
      std::max(host_seconds_, std::chrono::duration<double>(Clock::now() - begin).count());
  driver_.event_record(events.end, stream_);
  begun_.push_back({events, calls});
  idle_.pop_back();
}

// Lines that a kernel asked to be evicted last would outlive a flush; not every GPU has them, and
// none may be under way. Flushing keeps the device busy until the host has made the calls: their
// cost to the host is not to be in the time, nor what a device needs to get going.
void EventStopwatch::flush_caches() {
  constexpr double kFastestFill = 8e12;  // bytes a second
  constexpr double kLeastFills = 3;
  constexpr double kMostFills = 64;
  driver_.stream_synchronize(stream_);
  driver_.ctx_reset_persisting_l2.code();
  const double bytes = host_seconds_ * kFastestFill;
  const double fills =
      std::clamp(1 + bytes / static_cast<double>(flush_bytes_), kLeastFills, kMostFills);
  for (int i = 0; i < static_cast<int>(fills); ++i)
    driver_.memset_d32_async(flush_, 0, flush_bytes_ / sizeof(std::uint32_t), stream_);
}

std::vector<double> EventStopwatch::finish() {
  host_seconds_ = 0;
  const std::vector<Sample> samples = std::exchange(begun_, {});
  for (const Sample& sample : samples) idle_.push_back(sample.events);
  if (samples.empty()) return {};
  const ContextScope scope(*context_);
  driver_.event_synchronize(samples.back().events.end);  // the stream's order: all others are over
  std::vector<double> microseconds;
  for (const Sample& sample : samples) {
    float milliseconds = 0;
    driver_.event_elapsed_time(&milliseconds, sample.events.start, sample.events.end);
    microseconds.push_back(double{milliseconds} * 1e3 / sample.calls);
  }
  return microseconds;
}

void EventStopwatch::wait() {
  const ContextScope scope(*context_);
  driver_.stream_synchronize(stream_);
}

}  // namespace

// Twice the L2, as its replacement is no strict least-recently-used; and 256 MiB at least, which
// keeps a memory of 4.8 TB/s busy for 56 us at its peak: the host can enqueue several kernels.
std::size_t cuda_flush_bytes(std::size_t l2_bytes) {
  return std::max(2 * l2_bytes, std::size_t{256} << 20);
}

std::unique_ptr<Stopwatch> cuda_event_stopwatch(CudaContextPtr context, void* stream) {
  return std::make_unique<EventStopwatch>(std::move(context), static_cast<CUstream>(stream));
}

std::unique_ptr<Stopwatch> cuda_event_stopwatch(void* stream) {
  return cuda_event_stopwatch(CudaContext::current(cuda_driver()), stream);
}

}  // namespace sinter
