// The stream of a thread's work, ordering between streams, and concurrent threads. With a fake
// driver, whose log shows recorded events and waits.
#include "src/cuda/cuda_streams.h"

#include <sinter/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

#include "tests/cuda/fake/fake_device.h"

namespace sinter {
namespace {

using CudaStreamsTest = FakeDevice;

TEST_F(CudaStreamsTest, ScopesOrderTheirStreamsAndAreLeftInOrder) {
  const auto device = make();
  const CUstream own = device->streams().own();
  {
    const OnStream on(*device, stream(1600));
    EXPECT_EQ(device->streams().current(), stream(1600));
    EXPECT_EQ(fake_.streams, (std::vector<void*>{own, stream(1600)}));  // record, wait
    {
      const OnStream inner(*device, nullptr);  // the legacy default stream
      EXPECT_EQ(device->streams().current(), nullptr);
      EXPECT_TRUE(device->streams().is_open(nullptr));
    }
    EXPECT_FALSE(device->streams().is_open(nullptr));
    EXPECT_EQ(device->streams().current(), stream(1600));
    fake_.streams.clear();
  }
  EXPECT_EQ(fake_.streams, (std::vector<void*>{stream(1600), own}));
  EXPECT_EQ(device->streams().current(), own);
  EXPECT_TRUE(fake_.events.empty());
}

TEST_F(CudaStreamsTest, ScopesMayBeLeftInAnyOrder) {
  const auto device = make();
  CudaStreams& streams = device->streams();
  const CUstream own = streams.own();
  auto first = std::make_unique<OnStream>(*device, stream(1600));
  auto second = std::make_unique<OnStream>(*device, stream(3200));
  auto third = std::make_unique<OnStream>(*device, stream(4800));
  fake_.streams.clear();
  first.reset();
  EXPECT_EQ(streams.current(), stream(4800));
  EXPECT_FALSE(streams.is_open(stream(1600)));
  EXPECT_TRUE(streams.is_open(stream(3200)) && streams.is_open(stream(4800)));
  EXPECT_EQ(fake_.streams, (std::vector<void*>{stream(1600), stream(4800), stream(1600), own}));
  third.reset();
  EXPECT_EQ(streams.current(), stream(3200));
  second.reset();
  EXPECT_EQ(streams.current(), own);
  EXPECT_FALSE(streams.is_open(stream(3200)) || streams.is_open(stream(4800)));
}

TEST_F(CudaStreamsTest, AnotherThreadMayLeave) {
  const auto device = make();
  auto scope = std::make_unique<OnStream>(*device, stream(1600));
  std::thread([&] {
    const OnStream of_thread(*device, stream(3200));
    scope.reset();
    EXPECT_EQ(device->streams().current(), stream(3200));
  }).join();
  EXPECT_EQ(device->streams().current(), device->streams().own());
  EXPECT_FALSE(device->streams().is_open(stream(1600)));
  const OnStream again(*device, stream(1600));
  EXPECT_EQ(device->streams().current(), stream(1600));
}

TEST_F(CudaStreamsTest, GpusHaveStreamsOfTheirOwn) {
  const auto first = make(0);
  const auto second = make(1);
  const OnStream on_first(*first, stream(1600));
  EXPECT_EQ(second->streams().current(), second->streams().own());
  const OnStream on_second(*second, stream(3200));
  EXPECT_EQ(first->streams().current(), stream(1600));
  EXPECT_EQ(second->streams().current(), stream(3200));
}

TEST_F(CudaStreamsTest, LeavingThrowsNothingWhereTheDriverFails) {
  const auto device = make();
  auto scope = std::make_unique<OnStream>(*device, stream(1600));
  fake_.failing_call = "cuEventCreate";
  fake_.failing_code = 700;
  scope.reset();
  EXPECT_EQ(device->streams().current(), device->streams().own());
  EXPECT_FALSE(device->streams().is_open(stream(1600)));
  EXPECT_THROW(device->streams().enter(stream(1600)), DeviceError);
  EXPECT_EQ(device->streams().current(), device->streams().own());
}

// The driver reuses a destroyed stream's handle. The old stream's memory is free for the new one,
// so the new one must be ordered after own(), which waited when the old one was left.
TEST_F(CudaStreamsTest, AStreamWithTheHandleOfAnOldOneComesAfterIt) {
  const auto device = make();
  const CUstream own = device->streams().own();
  { const OnStream old(*device, stream(1600)); }
  const OnStream on(*device, stream(3200));
  fake_.streams.clear();
  const OnStream with_old_handle(*device, stream(1600));
  EXPECT_EQ(fake_.streams, (std::vector<void*>{stream(3200), stream(1600), own, stream(1600)}));
}

// After leave() the caller may destroy the stream: nothing may be recorded on it then.
TEST_F(CudaStreamsTest, NoneIsLeftWhileAnEventIsRecordedOnIt) {
  const auto device = make();
  std::atomic<int> step = 0;
  std::atomic<bool> left = false;
  const void* address = nullptr;
  std::thread user([&] {
    auto scope = std::make_unique<OnStream>(*device, stream(1600));
    address = device->allocate(1000)->data();  // free again, for this stream
    step = 1;
    while (step < 2) std::this_thread::yield();
    scope.reset();
    left = true;
  });
  while (step < 1) std::this_thread::yield();
  // The pool records on the user's stream: let the user leave now. Its own calls are over when it
  // destroys its event; it must not return before the record is made.
  bool left_during_record = false;
  fake_.on_call = [&](const std::string& call) {
    if (std::this_thread::get_id() == user.get_id()) {
      if (call == "cuEventDestroy") step = 3;
    } else if (call == "cuEventRecord") {
      step = 2;
      while (step < 3) std::this_thread::yield();
      for (int i = 0; i < 50 && !left; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      left_during_record = left;
    }
  };
  fake_.streams.clear();
  const StoragePtr taken = device->allocate(1000);
  user.join();
  fake_.on_call = nullptr;
  EXPECT_EQ(taken->data(), address);
  EXPECT_FALSE(left_during_record);
  EXPECT_EQ(std::count(fake_.streams.begin(), fake_.streams.end(), stream(1600)), 2);
}

// Regardless of what another thread does with streams at the same time.
TEST_F(CudaStreamsTest, AForkedChildCanAskForThem) {
  const auto device = make();
  const std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)device->streams().is_open(stream(1600));
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      (void)device->streams().is_open(stream(1600));
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << "round " << i;
  }
}

}  // namespace
}  // namespace sinter
