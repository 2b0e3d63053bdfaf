// The pool: sizes, reuse across streams, and running out of memory. With a fake driver, whose log
// shows recorded events and waits.
#include "src/cuda/cuda_pool.h"

#include <sinter/error.h>

#include "tests/cuda/fake/fake_device.h"

namespace sinter {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kGiB = std::size_t{1} << 30;

using CudaPoolTest = FakeDevice;

TEST(CudaBlocks, AreRoundedLittle) {
  EXPECT_EQ(cuda_block_bytes(0), 512u);
  EXPECT_EQ(cuda_block_bytes(1), 512u);
  EXPECT_EQ(cuda_block_bytes(513), 1024u);
  EXPECT_EQ(cuda_block_bytes(kMiB), 2 * kMiB);
  EXPECT_EQ(cuda_block_bytes(16 * kGiB), 16 * kGiB);
  EXPECT_EQ(cuda_block_bytes(16 * kGiB + 1), 16 * kGiB + 2 * kMiB);
}

TEST_F(CudaPoolTest, FreedBlocksAreReusedWithoutDriverCalls) {
  const auto device = make();
  const void* address = device->allocate(5000)->data();
  const auto calls = fake_.calls;
  {
    const StoragePtr again = device->allocate(4800);
    EXPECT_EQ(again->data(), address);
    EXPECT_EQ(again->bytes(), 4800u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(again->data()) % 256, 0u);
  }
  EXPECT_EQ(fake_.calls, calls);
}

TEST_F(CudaPoolTest, ALargerBlockIsTakenIfLittleIsWasted) {
  const auto device = make();
  device->allocate(9 * kMiB);  // 10 MiB
  EXPECT_EQ(device->memory().cached, 10 * kMiB);
  EXPECT_EQ(device->allocate(8 * kMiB)->bytes(), 8 * kMiB);
  EXPECT_EQ(fake_.calls["cuMemAlloc"], 2);  // 10 are too many for 8
  device->allocate(100 * kMiB);
  device->allocate(90 * kMiB);
  EXPECT_EQ(fake_.calls["cuMemAlloc"], 3);
}

TEST_F(CudaPoolTest, StatsCountBlocks) {
  const auto device = make();
  {
    const StoragePtr a = device->allocate(3 * kMiB);
    const StoragePtr b = device->allocate(100);
    EXPECT_EQ(device->memory().in_use, 4 * kMiB + 512);
  }
  EXPECT_EQ(device->memory().in_use, 0u);
  EXPECT_EQ(device->memory().peak, 4 * kMiB + 512);
  EXPECT_EQ(device->memory().cached, 4 * kMiB + 512);
  EXPECT_EQ(device->available_memory(), fake_.memory_bytes);
  device->reset_peak();
  device->release_cached();
  EXPECT_EQ(device->memory().peak, 0u);
  EXPECT_EQ(device->memory().cached, 0u);
  EXPECT_TRUE(fake_.allocations.empty());
}

TEST_F(CudaPoolTest, CachedMemoryIsReleasedBeforeAnythingFails) {
  fake_.memory_bytes = 16 * kMiB;
  const auto device = make();
  device->allocate(8 * kMiB);
  EXPECT_EQ(device->allocate(12 * kMiB)->bytes(), 12 * kMiB);
  const StoragePtr kept = device->allocate(12 * kMiB);
  try {
    device->allocate(6 * kMiB);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    EXPECT_STREQ(error.what(),
                 "[cuda:0] out of memory: asked for 6291456 bytes, 0.0 GiB of 0.0 GiB free, 0.0 "
                 "GiB in use by tensors");
    EXPECT_EQ(error.code(), kCudaOutOfMemory);
  }
  EXPECT_EQ(device->memory().in_use, 12 * kMiB);
  EXPECT_EQ(device->allocate(4 * kMiB)->bytes(), 4 * kMiB);  // usable afterwards
  EXPECT_THROW(device->allocate(~std::size_t{0}), OutOfMemoryError);
}

TEST_F(CudaPoolTest, SizesThatNobodyAsksForAgainDoNotPileUp) {
  const auto device = make();
  for (std::size_t i = 0; i < 12; ++i) {
    device->allocate((20 + 8 * i) * kMiB);  // each too large for the block before
    EXPECT_LE(device->memory().cached, 256 * kMiB) << i;
  }
  EXPECT_EQ(fake_.calls["cuMemAlloc"], 12);
  EXPECT_GT(fake_.calls["cuMemFree"], 5);
}

TEST_F(CudaPoolTest, OtherFailuresKeepTheirName) {
  const auto device = make();
  fake_.failing_call = "cuMemAlloc";
  fake_.failing_code = 700;
  try {
    device->allocate(1);
    FAIL();
  } catch (const OutOfMemoryError&) {
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.code(), 700);
  }
  EXPECT_EQ(device->memory().in_use, 0u);
}

TEST_F(CudaPoolTest, AnotherStreamWaitsForTheOneThatUsedABlock) {
  fake_.events_pass = false;
  const auto device = make();
  const void* address = device->allocate(kMiB)->data();
  const OnStream on(*device, stream(1600));
  fake_.stream_log.clear();
  fake_.streams.clear();
  const StoragePtr taken = device->allocate(kMiB);
  EXPECT_EQ(taken->data(), address);
  ASSERT_EQ(fake_.stream_log.size(), 2u);
  EXPECT_TRUE(fake_.stream_log[0].starts_with("record "));
  EXPECT_EQ(fake_.streams[0], device->streams().own());
  EXPECT_TRUE(fake_.stream_log[1].starts_with("wait for "));
  EXPECT_EQ(fake_.streams[1], stream(1600));
  EXPECT_TRUE(fake_.events.empty());
}

TEST_F(CudaPoolTest, AStreamPrefersItsOwnBlocks) {
  const auto device = make();
  const OnStream on(*device, stream(1600));
  StoragePtr own = device->allocate(kMiB);
  const void* address = own->data();
  {
    const OnStream other(*device, stream(3200));
    device->allocate(kMiB);  // freed on that stream
  }
  own.reset();
  EXPECT_EQ(device->allocate(kMiB)->data(), address);
}

TEST_F(CudaPoolTest, AUserOnAnotherStreamIsWaitedFor) {
  fake_.events_pass = false;
  const auto device = make();
  StoragePtr storage = device->allocate(kMiB);
  const OnStream on(*device, stream(1600));
  storage->note_use();
  storage->note_use();  // once is enough
  fake_.stream_log.clear();
  fake_.streams.clear();
  storage.reset();
  ASSERT_EQ(fake_.stream_log.size(), 1u);
  EXPECT_EQ(fake_.streams[0], stream(1600));  // the event after all of its work so far
  const OnStream back(*device, device->streams().own());
  fake_.stream_log.clear();
  device->allocate(kMiB);
  ASSERT_EQ(fake_.stream_log.size(), 1u);
  EXPECT_TRUE(fake_.stream_log[0].starts_with("wait for ")) << fake_.stream_log[0];
}

TEST_F(CudaPoolTest, MemoryOutlivesItsDevice) {
  StoragePtr storage;
  {
    const auto device = make();
    storage = device->allocate(100);
  }
  EXPECT_EQ(fake_.allocations.size(), 1u);
  EXPECT_GT(fake_.primary_holds, 0);
  storage.reset();
  EXPECT_TRUE(fake_.allocations.empty());
  EXPECT_EQ(fake_.primary_holds, 0);
}

}  // namespace
}  // namespace sinter
