// The thread's streams are looked up by the GPU's ordinal. An entry says whose it is: in one
// process two devices may have the same ordinal one after another.
// In: enter() and leave(). Out: current().
#include "src/cuda/cuda_streams.h"

#include <array>

#include "src/base/check.h"

namespace sinter {
namespace {

constexpr int kMostGpus = 64;

struct ThreadStream {
  const CudaStreams* owner = nullptr;  // null: the device's own stream
  CUstream stream = nullptr;
};
thread_local std::array<ThreadStream, kMostGpus> t_streams;

ThreadStream& of_this_thread(const PrimaryContext& primary) {
  return t_streams[static_cast<std::size_t>(primary.ordinal())];
}

}  // namespace

CudaStreams::CudaStreams(PrimaryContextPtr primary) : primary_(std::move(primary)) {
  SINTER_ASSERT(primary_->ordinal() < kMostGpus, "GPU {}", primary_->ordinal());
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
  const ThreadStream& mine = of_this_thread(*primary_);
  return mine.owner == this ? mine.stream : own_;
}

CUstream CudaStreams::enter(CUstream stream) {
  const CUstream previous = current();
  if (stream != previous) order(previous, stream);
  {
    const std::lock_guard lock(mutex_);
    ++open_[stream];
  }
  of_this_thread(*primary_) = {this, stream};
  return previous;
}

void CudaStreams::leave(CUstream previous) noexcept {
  const CUstream stream = current();
  if (previous != stream) order_code(stream, previous);
  if (previous != own_ && stream != own_) order_code(stream, own_);
  of_this_thread(*primary_) = {this, previous};
  const std::lock_guard lock(mutex_);
  const auto it = open_.find(stream);
  if (it != open_.end() && --it->second == 0) open_.erase(it);
}

bool CudaStreams::is_open(CUstream stream) const {
  if (stream == own_) return true;
  const std::lock_guard lock(mutex_);
  return open_.contains(stream);
}

void CudaStreams::order(CUstream first, CUstream second) const {
  if (const CUresult code = order_code(first, second))
    primary_->driver().fail("cuStreamWaitEvent", code);
}

// The driver keeps a destroyed event until it has passed.
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
