// One free list with its own lock per size class. Small blocks come from malloc, large ones from
// mmap, aligned for 2 MiB pages.
#include "src/cpu/memory_pool.h"

#include <fmt/format.h>
#include <sinter/error.h>
#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "src/base/rounding.h"
#include "src/cpu/cpu_info.h"

namespace sinter {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kLargestRequest = std::size_t{1} << 47;
// Querying the system's free memory takes about 50 us, so it is done once per this many new bytes.
constexpr std::size_t kCheckEvery = std::size_t{256} << 20;

void* map_large(std::size_t bytes) {
  const std::size_t length = round_up(bytes, kPage);
  void* mapped = mmap(nullptr, length + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t aligned = round_up(begin, kHugePage);
  char* data = static_cast<char*>(mapped) + (aligned - begin);
  if (aligned > begin) munmap(mapped, aligned - begin);
  if (const std::size_t tail = begin + kHugePage - aligned; tail > 0) munmap(data + length, tail);
  madvise(data, length, MADV_HUGEPAGE);  // a hint; ignored where huge pages are unsupported
  return data;
}

void* map_block(std::size_t bytes) {
  if (bytes >= kLargeBlock) return map_large(bytes);
  return std::aligned_alloc(bytes >= kPage ? kPage : kPoolAlignment,
                            round_up(bytes, bytes >= kPage ? kPage : kPoolAlignment));
}

void unmap_block(void* data, std::size_t bytes) {
  if (bytes >= kLargeBlock)
    munmap(data, round_up(bytes, kPage));
  else
    std::free(data);
}

std::string in_gib(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

[[noreturn]] void fail_out_of_memory(std::size_t bytes, std::uint64_t available,
                                     std::size_t in_use) {
  throw OutOfMemoryError(
      fmt::format("[cpu] out of memory: asked for {} bytes, {} available, {} in use by tensors",
                  bytes, in_gib(available), in_gib(in_use)),
      "mmap", ENOMEM);
}

}  // namespace

int size_class(std::size_t bytes) {
  const std::size_t units = bytes <= kPoolAlignment ? 0 : (bytes - 1) / kPoolAlignment;
  if (units < 8) return static_cast<int>(units);
  // Three bits after the leading one select one of eight classes per power of two.
  const int shift = static_cast<int>(std::bit_width(units)) - 4;
  return 8 + shift * 8 + static_cast<int>((units >> shift) & 7);
}

std::size_t class_bytes(int size_class) {
  const auto index = static_cast<std::size_t>(size_class);
  if (index < 8) return (index + 1) * kPoolAlignment;
  return (8 + (index - 8) % 8 + 1) * kPoolAlignment << ((index - 8) / 8);
}

class PoolStorage final : public Storage {
 public:
  PoolStorage(std::shared_ptr<MemoryPool> pool, void* data, std::size_t bytes, int size_class)
      : Storage(data, bytes), pool_(std::move(pool)), size_class_(size_class) {}
  ~PoolStorage() override { pool_->release(data(), size_class_); }
  PoolStorage(const PoolStorage&) = delete;
  PoolStorage& operator=(const PoolStorage&) = delete;

 private:
  std::shared_ptr<MemoryPool> pool_;
  int size_class_;
};

class AllocatedStorage final : public Storage {
 public:
  AllocatedStorage(std::shared_ptr<MemoryPool> pool, AllocatorPtr allocator, void* data,
                   std::size_t bytes)
      : Storage(data, bytes), pool_(std::move(pool)), allocator_(std::move(allocator)) {}
  ~AllocatedStorage() override {
    const std::size_t counted = requested_bytes(bytes());
    pool_->in_use_.fetch_sub(counted, std::memory_order_relaxed);
    pool_->outside_.fetch_sub(counted, std::memory_order_relaxed);
    give_back_to(*allocator_, data(), counted, nullptr);
  }
  AllocatedStorage(const AllocatedStorage&) = delete;
  AllocatedStorage& operator=(const AllocatedStorage&) = delete;

 private:
  std::shared_ptr<MemoryPool> pool_;
  AllocatorPtr allocator_;
};

std::shared_ptr<MemoryPool> MemoryPool::create(std::string device) {
  return std::shared_ptr<MemoryPool>(new MemoryPool(std::move(device)));
}

MemoryPool::MemoryPool(std::string device)
    : device_(std::move(device)),
      fork_listener_(
          [this] {
            for (FreeList& list : free_lists_) list.lock.lock();
          },
          [this](bool) {
            for (FreeList& list : free_lists_) list.lock.unlock();
          }) {}

MemoryPool::~MemoryPool() { release_cached(); }

StoragePtr MemoryPool::allocate(std::size_t bytes) {
  if (const AllocatorPtr allocator = hook_.get()) return allocate_from(allocator, bytes);
  if (bytes > kLargestRequest) fail_out_of_memory(bytes, system_memory().available, in_use_);
  const int index = size_class(bytes);
  void* data = take_cached(index);
  if (!data) data = map_new(index, bytes);
  count_use(class_bytes(index));
  try {
    return std::make_shared<PoolStorage>(shared_from_this(), data, bytes, index);
  } catch (...) {
    release(data, index);
    throw;
  }
}

StoragePtr MemoryPool::allocate_from(const AllocatorPtr& allocator, std::size_t bytes) {
  const std::size_t counted = requested_bytes(bytes);
  const MemoryRequest request{counted, kPoolAlignment, nullptr};
  void* data = ask(*allocator, request, device_);
  if (!data && stats().cached > 0) {  // releasing cached blocks may free enough
    release_cached();
    data = ask(*allocator, request, device_);
  }
  if (!data) fail_without_memory(device_, bytes, in_use_);
  outside_.fetch_add(counted, std::memory_order_relaxed);
  count_use(counted);
  try {
    return std::make_shared<AllocatedStorage>(shared_from_this(), allocator, data, bytes);
  } catch (...) {
    in_use_.fetch_sub(counted, std::memory_order_relaxed);
    outside_.fetch_sub(counted, std::memory_order_relaxed);
    give_back_to(*allocator, data, counted, nullptr);
    throw;
  }
}

void* MemoryPool::take_cached(int size_class) {
  FreeList& list = free_lists_[static_cast<std::size_t>(size_class)];
  const std::lock_guard lock(list.lock);
  if (list.blocks.empty()) return nullptr;
  void* data = list.blocks.back();  // the most recently freed block is most likely in the cache
  list.blocks.pop_back();
  return data;
}

void* MemoryPool::map_new(int size_class, std::size_t requested) {
  const std::size_t bytes = class_bytes(size_class);
  check_available(bytes, requested);
  FreeList& list = free_lists_[static_cast<std::size_t>(size_class)];
  {
    const std::lock_guard lock(list.lock);
    list.blocks.reserve(std::bit_ceil(list.mapped_blocks + 1));  // release() must not allocate
    ++list.mapped_blocks;
  }
  void* data = map_block(bytes);
  if (!data) {
    release_cached();
    data = map_block(bytes);
  }
  if (!data) {
    const std::lock_guard lock(list.lock);
    --list.mapped_blocks;
    fail_out_of_memory(requested, system_memory().available, in_use_);
  }
  mapped_ += bytes;
  return data;
}

// Linux overcommits and kills processes that run out of memory, so a request that cannot be
// satisfied must be refused up front.
void MemoryPool::check_available(std::size_t bytes, std::size_t requested) {
  if (bytes < kLargeBlock || unchecked_.fetch_add(bytes) + bytes < kCheckEvery) return;
  unchecked_ = 0;
  const auto fits = [&](const SystemMemory& memory) {
    return bytes <= memory.available && mapped_ + bytes <= memory.total;
  };
  if (fits(system_memory())) return;
  release_cached();
  const SystemMemory memory = system_memory();
  if (!fits(memory)) fail_out_of_memory(requested, memory.available, in_use_);
}

std::size_t MemoryPool::available() const { return system_memory().available + stats().cached; }

void MemoryPool::release(void* data, int size_class) noexcept {
  FreeList& list = free_lists_[static_cast<std::size_t>(size_class)];
  in_use_.fetch_sub(class_bytes(size_class), std::memory_order_relaxed);
  const std::lock_guard lock(list.lock);
  list.blocks.push_back(data);
}

void MemoryPool::count_use(std::size_t bytes) {
  const std::size_t now = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

MemoryStats MemoryPool::stats() const {
  const std::size_t in_use = in_use_;
  const std::size_t held = mapped_ + outside_;
  return {in_use, peak_, held > in_use ? held - in_use : 0};
}

void MemoryPool::reset_peak() { peak_ = in_use_.load(); }

void MemoryPool::release_cached() {
  for (int index = 0; index < kClasses; ++index) {
    FreeList& list = free_lists_[static_cast<std::size_t>(index)];
    const std::lock_guard lock(list.lock);
    for (void* data : list.blocks) unmap_block(data, class_bytes(index));
    list.mapped_blocks -= list.blocks.size();
    mapped_ -= list.blocks.size() * class_bytes(index);
    list.blocks.clear();
  }
}

}  // namespace sinter
