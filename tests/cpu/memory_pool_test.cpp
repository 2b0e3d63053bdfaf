// The CPU's memory pool: blocks are reused, alignment and waste are bounded, running out is an
// error.
#include "src/cpu/memory_pool.h"

#include <gtest/gtest.h>
#include <sinter/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

namespace sinter {
namespace {

std::uintptr_t address(const StoragePtr& storage) {
  return reinterpret_cast<std::uintptr_t>(storage->data());
}

TEST(SizeClass, WastesAtMostAnEighth) {
  for (double size = 1; size < 1e13; size = size * 1.003 + 1) {
    const auto bytes = static_cast<std::size_t>(size);
    const int index = size_class(bytes);
    EXPECT_GE(class_bytes(index), bytes);
    EXPECT_EQ(class_bytes(index) % kPoolAlignment, 0u);
    if (index > 0) {
      EXPECT_LT(class_bytes(index - 1), bytes);
    }
    if (bytes > 512) {
      EXPECT_LE(class_bytes(index) - bytes, bytes / 8);
    }
  }
}

TEST(SizeClass, ItsOwnSizeIsInIt) {
  for (int index = 0; index < 300; ++index) EXPECT_EQ(size_class(class_bytes(index)), index);
  EXPECT_EQ(size_class(0), 0);
  EXPECT_EQ(class_bytes(size_class(64 << 20)), std::size_t{64} << 20);
}

TEST(MemoryPool, BlocksAreAlignedAndWritable) {
  const auto pool = MemoryPool::create();
  for (const std::size_t bytes : {1ul, 64ul, 65ul, 5000ul, 70'000ul, kLargeBlock - 1, kLargeBlock,
                                  kLargeBlock + 1, 5'000'001ul}) {
    const StoragePtr storage = pool->allocate(bytes);
    EXPECT_EQ(storage->bytes(), bytes);
    const std::size_t alignment = bytes >= kLargeBlock ? 2 << 20 : bytes >= 4096 ? 4096 : 64;
    EXPECT_EQ(address(storage) % alignment, 0u) << bytes;
    std::memset(storage->data(), 0xab, class_bytes(size_class(bytes)));
  }
}

TEST(MemoryPool, ZeroBytes) {
  const auto pool = MemoryPool::create();
  const StoragePtr storage = pool->allocate(0);
  EXPECT_EQ(storage->bytes(), 0u);
  EXPECT_NE(storage->data(), nullptr);
}

TEST(MemoryPool, GivenBackBlocksAreReused) {
  const auto pool = MemoryPool::create();
  for (const std::size_t bytes : {100ul, std::size_t{3} << 20}) {
    const std::uintptr_t first = address(pool->allocate(bytes));
    EXPECT_EQ(address(pool->allocate(bytes)), first);
    EXPECT_EQ(address(pool->allocate(bytes - 1)), first);
  }
}

TEST(MemoryPool, StatsFollow) {
  const auto pool = MemoryPool::create();
  {
    const StoragePtr a = pool->allocate(std::size_t{1} << 20);
    const StoragePtr b = pool->allocate(std::size_t{2} << 20);
    EXPECT_EQ(pool->stats().in_use, std::size_t{3} << 20);
    EXPECT_EQ(pool->stats().cached, 0u);
  }
  EXPECT_EQ(pool->stats().in_use, 0u);
  EXPECT_EQ(pool->stats().peak, std::size_t{3} << 20);
  EXPECT_EQ(pool->stats().cached, std::size_t{3} << 20);
  pool->reset_peak();
  EXPECT_EQ(pool->stats().peak, 0u);
  pool->release_cached();
  EXPECT_EQ(pool->stats().cached, 0u);
}

TEST(MemoryPool, StorageOutlivesThePoolsOwner) {
  auto pool = MemoryPool::create();
  const StoragePtr storage = pool->allocate(1000);
  pool.reset();
  std::memset(storage->data(), 1, 1000);
}

TEST(MemoryPool, HopelessRequestIsAnErrorAndThePoolGoesOn) {
  const auto pool = MemoryPool::create();
  const StoragePtr kept = pool->allocate(std::size_t{2} << 30);
  for (const std::size_t bytes : {std::size_t{1} << 44, std::size_t{1} << 60, ~std::size_t{0}}) {
    try {
      pool->allocate(bytes);
      FAIL() << bytes;
    } catch (const DeviceError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(std::to_string(bytes)), std::string::npos) << message;
      EXPECT_NE(message.find("available"), std::string::npos) << message;
      EXPECT_NE(message.find("2.0 GiB in use"), std::string::npos) << message;
    }
  }
  EXPECT_EQ(pool->stats().in_use, std::size_t{2} << 30);
  EXPECT_EQ(pool->allocate(100)->bytes(), 100u);
}

// Untouched blocks do not reduce the system's free memory; together they must not exceed it.
TEST(MemoryPool, PromisesNoMoreThanThereIs) {
  const auto pool = MemoryPool::create();
  std::vector<StoragePtr> blocks;
  const auto fill = [&] {
    for (int i = 0; i < 4096; ++i) blocks.push_back(pool->allocate(std::size_t{4} << 30));
  };
  EXPECT_THROW(fill(), DeviceError);
  const std::size_t count = blocks.size();
  blocks.clear();
  // Cached blocks are released before a request is refused.
  if (count > 0) {
    EXPECT_NO_THROW(pool->allocate(count * (std::size_t{3} << 30)));
  }
}

TEST(MemoryPool, ManyThreads) {
  const auto pool = MemoryPool::create();
  std::atomic<int> mixed_up{0};
  std::vector<std::thread> threads;
  for (unsigned id = 0; id < 8; ++id)
    threads.emplace_back([&, id] {
      std::mt19937 random(id);
      std::vector<StoragePtr> held(16);
      for (int i = 0; i < 5000; ++i) {
        StoragePtr& slot = held[random() % held.size()];
        if (slot && *static_cast<unsigned*>(slot->data()) != id) ++mixed_up;
        slot = pool->allocate(4 + random() % 3000);
        *static_cast<unsigned*>(slot->data()) = id;
        if (i % 1000 == 0) pool->release_cached();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mixed_up, 0);
  EXPECT_EQ(pool->stats().in_use, 0u);
}

TEST(MemoryPool, ChildCanAllocateWhileTheParentIsBusy) {
  const auto pool = MemoryPool::create();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) pool->allocate(100);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(pool->allocate(100)->data() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace sinter
