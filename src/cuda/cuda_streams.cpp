// A thread's stream uses form a list, most recent first. One that has been left is skipped, and
// deleted by its thread once it is at the front, because scopes on the heap may end in any order.
// In: enter() and leave(). Out: current().
#include "src/cuda/cuda_streams.h"

#include <atomic>
#include <utility>

namespace sinter {
namespace {

// A plain pointer, so that streams can be queried and left while the thread's objects are
// destroyed.
thread_local CudaStreamUse* t_last_use = nullptr;

}  // namespace

struct CudaStreamUse {
  const CudaStreams* owner = nullptr;
  CUstream stream = nullptr;
  CudaStreamUse* before = nullptr;  // of the same thread, for any GPU
  std::atomic<bool> left = false;   // set by any thread; the entering thread deletes
};

namespace {

void drop_left_uses() noexcept {
  while (t_last_use && t_last_use->left.load(std::memory_order_acquire))
    delete std::exchange(t_last_use, t_last_use->before);
}

}  // namespace

// The pool's listener is registered later and called earlier: it queries streams with its lock
// held.
CudaStreams::CudaStreams(CudaContextPtr primary)
    : primary_(std::move(primary)),
      fork_listener_([this] { mutex_.lock(); }, [this](bool) { mutex_.unlock(); }) {
  constexpr unsigned kOrderedWithDefaultStream = 0;
  const ContextScope scope(*primary_);
  primary_->driver().stream_create(&own_, kOrderedWithDefaultStream);
}

CudaStreams::~CudaStreams() {
  CUresult code = 0;
  const ContextScope scope(*primary_, code);
  if (code == 0) primary_->driver().stream_destroy.code(own_);
}

CUstream CudaStreams::current() const noexcept {
  for (const CudaStreamUse* use = t_last_use; use; use = use->before)
    if (use->owner == this && !use->left.load(std::memory_order_acquire)) return use->stream;
  return own_;
}

CudaStreamUse* CudaStreams::enter(CUstream stream) {
  drop_left_uses();
  auto use = std::make_unique<CudaStreamUse>();
  use->owner = this;
  use->stream = stream;
  use->before = t_last_use;
  const CUstream previous = current();
  if (stream != previous) order(previous, stream);
  // The driver may have reused the handle of a stream that was left. The pool then takes that
  // stream's memory for this one's, so this one must wait for everything own() has waited for.
  if (previous != own_ && !is_open(stream)) order(own_, stream);
  {
    const std::lock_guard lock(mutex_);
    ++open_[stream];
  }
  return t_last_use = use.release();
}

void CudaStreams::leave(CudaStreamUse* use) noexcept {
  const CUstream stream = use->stream;
  use->left.store(true, std::memory_order_release);  // another thread may delete it now
  drop_left_uses();
  const CUstream next = current();
  if (next != stream) order_code(stream, next);
  if (next != own_ && stream != own_) order_code(stream, own_);
  const std::lock_guard lock(mutex_);
  const auto it = open_.find(stream);
  if (it != open_.end() && --it->second == 0) open_.erase(it);
}

bool CudaStreams::is_open(CUstream stream) const {
  const std::lock_guard lock(mutex_);
  return is_open_locked(stream);
}

CUresult CudaStreams::record(CUevent event, CUstream stream) const noexcept {
  const std::lock_guard lock(mutex_);
  return primary_->driver().event_record.code(event, is_open_locked(stream) ? stream : own_);
}

void CudaStreams::order(CUstream first, CUstream second) const {
  if (const CUresult code = order_code(first, second))
    primary_->driver().fail("cuStreamWaitEvent", code);
}

// The driver keeps a destroyed event until it has completed.
CUresult CudaStreams::order_code(CUstream first, CUstream second) const noexcept {
  CUresult code = 0;
  const ContextScope scope(*primary_, code);
  if (code != 0) return code;
  const CudaDriver& driver = primary_->driver();
  CUevent event = nullptr;
  if ((code = driver.event_create.code(&event, kCudaEventWithoutTiming)) != 0) return code;
  code = driver.event_record.code(event, first);
  if (code == 0) code = driver.stream_wait_event.code(second, event, 0);
  driver.event_destroy.code(event);
  return code;
}

void CudaStreams::synchronize() const {
  const ContextScope scope(*primary_);
  const CUstream stream = current();
  primary_->driver().stream_synchronize(stream);
  if (stream != own_) primary_->driver().stream_synchronize(own_);
}

}  // namespace sinter
