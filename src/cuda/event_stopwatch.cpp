// A sample on the stream: flush, start event, the calls, end event. In: functions that launch work
// on the stream. Out: microseconds in device time.
#include "src/cuda/event_stopwatch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/base/check.h"

namespace sinter {
namespace {

class EventStopwatch : public Stopwatch {
 public:
  EventStopwatch(CudaContextPtr context, CUstream stream);
  ~EventStopwatch() override;
  EventStopwatch(const EventStopwatch&) = delete;
  EventStopwatch& operator=(const EventStopwatch&) = delete;

  double time(const std::function<void()>& run, int calls) override;
  void wait() override;
  bool resolves_single_calls() const override { return true; }

 private:
  using Clock = std::chrono::steady_clock;

  void free_all();
  void flush_caches();
  void note_host_time(Clock::time_point start);

  CudaContextPtr context_;
  const CudaDriver& driver_;
  CUstream stream_;
  std::size_t flush_bytes_ = 0;
  CUdeviceptr flush_ = 0;
  CUevent start_ = nullptr;
  CUevent end_ = nullptr;
  double lead_seconds_ = 0;  // head start the host should have over the device
};

EventStopwatch::EventStopwatch(CudaContextPtr context, CUstream stream)
    : context_(std::move(context)),
      driver_(context_->driver()),
      stream_(stream),
      flush_bytes_(cuda_flush_bytes(context_->description().l2_bytes)) {
  constexpr unsigned kWithTiming = 0;
  const ContextScope scope(*context_);
  try {
    driver_.mem_alloc(&flush_, flush_bytes_);
    driver_.event_create(&start_, kWithTiming);
    driver_.event_create(&end_, kWithTiming);
  } catch (...) {
    free_all();
    throw;
  }
}

// Errors are ignored: after a device fault every call fails and the memory is lost anyway.
EventStopwatch::~EventStopwatch() {
  CUresult code = 0;
  const ContextScope scope(*context_, code);
  if (code == 0) free_all();
}

void EventStopwatch::free_all() {
  if (start_) driver_.event_destroy.code(start_);
  if (end_) driver_.event_destroy.code(end_);
  if (flush_) driver_.mem_free.code(flush_);
}

double EventStopwatch::time(const std::function<void()>& run, int calls) {
  SINTER_ASSERT(calls >= 1, "{} calls", calls);
  const ContextScope scope(*context_);
  flush_caches();
  driver_.event_record(start_, stream_);
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < calls; ++i) run();
  note_host_time(begin);
  driver_.event_record(end_, stream_);
  driver_.event_synchronize(end_);
  float milliseconds = 0;
  driver_.event_elapsed_time(&milliseconds, start_, end_);
  return double{milliseconds} * 1e3 / calls;
}

// Lines that a kernel marked evict-last would survive a flush, so persisting lines are reset first;
// not every GPU has them, and no kernel may be running. Flushing also keeps the device busy while
// the host enqueues the calls, which keeps launch overhead and start-up latency out of the
// measurement.
void EventStopwatch::flush_caches() {
  constexpr double kFastestFill = 8e12;  // bytes per second
  constexpr double kLeastFills = 3;
  driver_.stream_synchronize(stream_);
  driver_.ctx_reset_persisting_l2.code();
  const double fills = lead_seconds_ * kFastestFill / static_cast<double>(flush_bytes_);
  for (int i = 0; i < static_cast<int>(std::max(1 + fills, kLeastFills)); ++i)
    driver_.memset_d32_async(flush_, 0, flush_bytes_ / sizeof(std::uint32_t), stream_);
}

// The next calls will take the host about as long as the last ones.
void EventStopwatch::note_host_time(Clock::time_point start) {
  constexpr double kLongestLead = 2e-3;  // ignore calls that compiled something
  constexpr double kFading = 0.8;
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  lead_seconds_ = std::max(std::min(seconds, kLongestLead), kFading * lead_seconds_);
}

void EventStopwatch::wait() {
  const ContextScope scope(*context_);
  driver_.stream_synchronize(stream_);
}

}  // namespace

// Twice the L2 size, since its replacement is not strict LRU; and at least 256 MiB, which keeps a
// 4.8 TB/s memory busy for 56 us, enough for the host to enqueue several kernels.
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
