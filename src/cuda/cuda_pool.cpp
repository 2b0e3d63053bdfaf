// The pool knows each block's users: the stream it was allocated for and those passed to
// note_use(). Work on a stream is ordered, so a block used by one stream only can be reused on it
// at once. Other streams wait for an event first.
#include "src/cuda/cuda_pool.h"

#include <fmt/format.h>
#include <sinter/error.h>

#include <algorithm>
#include <bit>

#include "src/base/rounding.h"

namespace sinter {
namespace {

constexpr std::size_t kSmallUnit = 512;
constexpr std::size_t kLargeUnit = std::size_t{2} << 20;
constexpr std::size_t kLarge = std::size_t{1} << 20;
constexpr std::size_t kLargestRequest = std::size_t{1} << 47;
constexpr std::size_t kAlignment = 256;  // what cuMemAlloc guarantees
constexpr std::size_t kAlwaysKept = std::size_t{256} << 20;

// Accepts a larger block if it wastes at most an eighth of the request.
std::size_t largest_accepted(std::size_t bytes) { return bytes + bytes / 8; }

std::string in_gib(std::size_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace

std::size_t cuda_block_bytes(std::size_t bytes) {
  if (bytes == 0) return kSmallUnit;
  return round_up(bytes, bytes < kLarge ? kSmallUnit : kLargeUnit);
}

class CudaStorage final : public Storage {
 public:
  CudaStorage(std::shared_ptr<CudaPool> pool, CUdeviceptr address, std::size_t bytes,
              std::size_t block_bytes, CUstream stream)
      : Storage(reinterpret_cast<void*>(address), bytes),
        pool_(std::move(pool)),
        block_bytes_(block_bytes),
        stream_(stream) {}
  CudaStorage(std::shared_ptr<CudaPool> pool, AllocatorPtr allocator, void* data, std::size_t bytes,
              CUstream stream)
      : Storage(data, bytes),
        pool_(std::move(pool)),
        allocator_(std::move(allocator)),
        block_bytes_(requested_bytes(bytes)),
        stream_(stream) {}
  ~CudaStorage() override {
    if (allocator_)
      pool_->give_to_allocator(*this);
    else
      pool_->give_back(*this);
  }
  CudaStorage(const CudaStorage&) = delete;
  CudaStorage& operator=(const CudaStorage&) = delete;

  void note_use() override {
    const CUstream stream = pool_->streams_->current();
    if (stream == stream_) return;
    const std::lock_guard lock(pool_->mutex_);
    if (std::find(others_.begin(), others_.end(), stream) == others_.end())
      others_.push_back(stream);
  }

 private:
  friend class CudaPool;
  std::shared_ptr<CudaPool> pool_;
  AllocatorPtr allocator_;  // null: the pool's own memory
  std::size_t block_bytes_;
  CUstream stream_;
  std::vector<CUstream> others_;  // other streams that used it
};

std::shared_ptr<CudaPool> CudaPool::create(CudaContextPtr primary,
                                           std::shared_ptr<CudaStreams> streams) {
  return std::shared_ptr<CudaPool>(new CudaPool(std::move(primary), std::move(streams)));
}

CudaPool::CudaPool(CudaContextPtr primary, std::shared_ptr<CudaStreams> streams)
    : primary_(std::move(primary)),
      streams_(std::move(streams)),
      fork_listener_([this] { mutex_.lock(); }, [this](bool) { mutex_.unlock(); }) {}

CudaPool::~CudaPool() { free_all_cached(); }

StoragePtr CudaPool::allocate(std::size_t bytes) {
  const CUstream stream = streams_->current();
  if (const AllocatorPtr allocator = hook_.get()) return allocate_from(allocator, bytes, stream);
  const std::size_t wanted = cuda_block_bytes(std::min(bytes, kLargestRequest));
  Taken taken = take_cached(wanted, stream);
  if (taken.bytes == 0) taken = take_new(wanted, bytes);
  count_use(taken.bytes);
  return std::make_shared<CudaStorage>(shared_from_this(), taken.address, bytes, taken.bytes,
                                       stream);
}

StoragePtr CudaPool::allocate_from(const AllocatorPtr& allocator, std::size_t bytes,
                                   CUstream stream) {
  const std::string device = fmt::format("cuda:{}", primary_->ordinal());
  const std::size_t counted = requested_bytes(bytes);
  const MemoryRequest request{counted, kAlignment, stream};
  const ContextScope scope(*primary_);
  void* data = ask(*allocator, request, device);
  if (!data && stats().cached > 0) {  // releasing cached blocks may free enough
    release_cached();
    data = ask(*allocator, request, device);
  }
  if (!data) fail_without_memory(device, bytes, in_use_);
  outside_.fetch_add(counted, std::memory_order_relaxed);
  count_use(counted);
  try {
    return std::make_shared<CudaStorage>(shared_from_this(), allocator, data, bytes, stream);
  } catch (...) {  // no other owner could free the memory
    in_use_.fetch_sub(counted, std::memory_order_relaxed);
    outside_.fetch_sub(counted, std::memory_order_relaxed);
    give_back_to(*allocator, data, counted, stream);
    throw;
  }
}

CudaPool::Taken CudaPool::take_cached(std::size_t bytes, CUstream stream) {
  const std::lock_guard lock(mutex_);
  const auto first = lists_.lower_bound(bytes);
  const auto last = lists_.upper_bound(largest_accepted(bytes));
  for (auto it = first; it != last; ++it) {
    std::vector<FreeBlock>& free = it->second.free;
    for (std::size_t i = free.size(); i-- > 0;)
      if (free[i].stream == stream) return take_from(it->second, it->first, i, stream);
  }
  // Last used by another stream: wait for it.
  for (auto it = first; it != last; ++it)
    if (const std::size_t count = it->second.free.size(); count > 0)
      return take_from(it->second, it->first, count - 1, stream);
  return {};
}

CudaPool::Taken CudaPool::take_from(SizeList& list, std::size_t bytes, std::size_t index,
                                    CUstream stream) {
  FreeBlock& block = list.free[index];
  if (block.stream != stream || !block.events.empty()) wait_for(block, stream);
  const CUdeviceptr address = block.address;
  if (index + 1 != list.free.size()) std::swap(block, list.free.back());
  list.free.pop_back();
  return {address, bytes};
}

// On a throw only the events already waited for have changed.
void CudaPool::wait_for(FreeBlock& block, CUstream stream) {
  const CudaDriver& driver = primary_->driver();
  const ContextScope scope(*primary_);
  if (block.stream != stream) {
    CUevent event = nullptr;
    driver.event_create(&event, kCudaEventWithoutTiming);
    block.events.push_back(event);
    if (const CUresult code = streams_->record(event, block.stream))
      driver.fail("cuEventRecord", code);
  }
  while (!block.events.empty()) {
    const CUevent event = block.events.back();
    if (driver.event_query.code(event) != 0) driver.stream_wait_event(stream, event, 0);
    driver.event_destroy.code(event);
    block.events.pop_back();
  }
}

// More than was ever in use, in sizes that are no longer requested: a program with changing shapes
// would otherwise accumulate one block of each size.
bool CudaPool::keeps_too_much(std::size_t more) const {
  return stats().cached + more > std::max<std::size_t>(kAlwaysKept, most_in_use_);
}

CudaPool::Taken CudaPool::take_new(std::size_t bytes, std::size_t requested) {
  if (stats().cached > 0 && keeps_too_much(bytes)) release_cached();
  {
    const std::lock_guard lock(mutex_);
    SizeList& list = lists_[bytes];
    list.free.reserve(std::bit_ceil(list.owned + 1));  // give_back() must not allocate
    ++list.owned;
  }
  const CudaDriver& driver = primary_->driver();
  const ContextScope scope(*primary_);
  CUdeviceptr address = 0;
  CUresult code = driver.mem_alloc.code(&address, bytes);
  if (code == kCudaOutOfMemory) {
    release_cached();
    code = driver.mem_alloc.code(&address, bytes);
  }
  if (code == 0) {
    owned_ += bytes;
    return {address, bytes};
  }
  {
    const std::lock_guard lock(mutex_);
    --lists_[bytes].owned;
  }
  if (code != kCudaOutOfMemory) driver.fail("cuMemAlloc", code);
  std::size_t free = 0;
  std::size_t total = 0;
  driver.mem_get_info.code(&free, &total);
  throw OutOfMemoryError(
      fmt::format(
          "[cuda:{}] out of memory: asked for {} bytes, {} of {} free, {} in use by tensors",
          primary_->ordinal(), requested, in_gib(free), in_gib(total), in_gib(in_use_)),
      "cuMemAlloc", code);
}

// Makes no driver call if only one stream used the block.
void CudaPool::give_back(CudaStorage& storage) noexcept {
  in_use_.fetch_sub(storage.block_bytes_, std::memory_order_relaxed);
  FreeBlock block{reinterpret_cast<CUdeviceptr>(storage.data()), storage.stream_, {}};
  if (!streams_->is_open(block.stream)) block.stream = streams_->own();
  const std::lock_guard lock(mutex_);
  if (!storage.others_.empty()) record_others(block, storage.others_);
  lists_.find(storage.block_bytes_)->second.free.push_back(std::move(block));
}

// Orders all uses before the stream that the allocator is told, then frees.
void CudaPool::give_to_allocator(CudaStorage& storage) noexcept {
  in_use_.fetch_sub(storage.block_bytes_, std::memory_order_relaxed);
  outside_.fetch_sub(storage.block_bytes_, std::memory_order_relaxed);
  FreeBlock block{0, storage.stream_, {}};
  if (!streams_->is_open(block.stream)) block.stream = streams_->own();
  const CudaDriver& driver = primary_->driver();
  CUresult code = 0;
  const ContextScope scope(*primary_, code);
  if (!storage.others_.empty()) record_others(block, storage.others_);
  // The stream must not be left, and then destroyed, before the allocator has used it.
  streams_->with_stream(block.stream, [&](CUstream stream) {
    for (const CUevent event : block.events) {
      if (driver.stream_wait_event.code(stream, event, 0) != 0) driver.ctx_synchronize.code();
      driver.event_destroy.code(event);
    }
    give_back_to(*storage.allocator_, storage.data(), storage.block_bytes_, stream);
  });
}

// If no event can be created, waits here instead.
void CudaPool::record_others(FreeBlock& block, const std::vector<CUstream>& others) noexcept {
  const CudaDriver& driver = primary_->driver();
  CUresult code = 0;
  const ContextScope scope(*primary_, code);
  for (CUstream other : others) {
    if (!streams_->is_open(other)) other = streams_->own();
    if (other == block.stream) continue;
    CUevent event = nullptr;
    if (driver.event_create.code(&event, kCudaEventWithoutTiming) == 0) {
      block.events.push_back(event);
      if (streams_->record(event, other) == 0) continue;
    }
    driver.ctx_synchronize.code();
  }
}

void CudaPool::release_cached() {
  const std::lock_guard lock(mutex_);
  free_all_cached();
}

// Errors are ignored: after a device fault every call fails and the memory is lost anyway.
void CudaPool::free_all_cached() noexcept {
  const CudaDriver& driver = primary_->driver();
  CUresult code = 0;
  const ContextScope scope(*primary_, code);
  driver.ctx_synchronize.code();  // freed blocks may still be in use by kernels in flight
  for (auto& [bytes, list] : lists_) {
    for (const FreeBlock& block : list.free) {
      for (const CUevent event : block.events) driver.event_destroy.code(event);
      driver.mem_free.code(block.address);
    }
    owned_ -= list.free.size() * bytes;
    list.owned -= list.free.size();
    list.free.clear();
  }
  std::erase_if(lists_, [](const auto& entry) { return entry.second.owned == 0; });
}

void CudaPool::count_use(std::size_t bytes) {
  const std::size_t now = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  const std::size_t outside = outside_.load(std::memory_order_relaxed);
  const std::size_t inside = now > outside ? now - outside : 0;
  if (inside > most_in_use_.load(std::memory_order_relaxed))
    // Approximate: another thread may win the race.
    most_in_use_.store(inside, std::memory_order_relaxed);
}

MemoryStats CudaPool::stats() const {
  const std::size_t in_use = in_use_;
  const std::size_t held = owned_ + outside_;
  return {in_use, peak_, held > in_use ? held - in_use : 0};
}

void CudaPool::reset_peak() { peak_ = in_use_.load(); }

std::size_t CudaPool::available() const {
  const ContextScope scope(*primary_);
  std::size_t free = 0;
  std::size_t total = 0;
  primary_->driver().mem_get_info(&free, &total);
  return free + stats().cached;
}

}  // namespace sinter
