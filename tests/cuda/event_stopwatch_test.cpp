// The CUDA stopwatch: its sequence of calls and cleanup, with a fake driver. On a GPU: its times.
#include "src/cuda/event_stopwatch.h"

#include <gtest/gtest.h>
#include <sinter/bench.h>
#include <sinter/error.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "tests/cuda/fake/load_fake.h"

namespace sinter {
namespace {

using Log = std::vector<std::string>;

class FakeStopwatch : public testing::Test {
 protected:
  FakeStopwatch() : fake_(fresh_fake()), driver_(CudaDriver::load(SINTER_FAKE_CUDA)) {}

  std::unique_ptr<Stopwatch> make(void* stream = nullptr) {
    return cuda_event_stopwatch(CudaContext::current(*driver_), stream);
  }

  // Work on the stream.
  std::function<void()> run_for(double us) {
    return [this, us] {
      fake_.stream_log.emplace_back("run");
      fake_.now_us += us;
    };
  }

  void expect_nothing_is_open() {
    EXPECT_TRUE(fake_.events.empty());
    EXPECT_TRUE(fake_.allocations.empty());
    EXPECT_EQ(fake_.primary_holds, 0);
  }

  FakeCuda& fake_;
  std::unique_ptr<const CudaDriver> driver_;
};

TEST_F(FakeStopwatch, ASampleIsWaitResetFlushStartRunEnd) {
  const auto stopwatch = make();
  EXPECT_NEAR(stopwatch->time(run_for(30), 2), 30, 1e-3);  // of one call, without the flush
  EXPECT_EQ(fake_.stream_log, (Log{"wait", "reset", "flush", "flush", "flush", "record 1", "run",
                                   "run", "record 2"}));
  EXPECT_EQ(fake_.calls["cuEventSynchronize"], 1);
  EXPECT_TRUE(stopwatch->resolves_single_calls());
}

// The device must not catch up with a slow host.
TEST_F(FakeStopwatch, SlowCallsGetALongerFlush) {
  const auto stopwatch = make();
  const auto flushes = [&] {
    return std::count(fake_.stream_log.begin(), fake_.stream_log.end(), "flush");
  };
  stopwatch->time([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }, 1);
  EXPECT_EQ(flushes(), 3);
  stopwatch->time(run_for(1), 1);
  EXPECT_GE(flushes(), 3 + 20);
  EXPECT_LE(flushes(), 3 + 64);
  for (int i = 0; i < 100; ++i) stopwatch->time(run_for(1), 1);
  fake_.stream_log.clear();
  stopwatch->time(run_for(1), 1);
  EXPECT_LT(flushes(), 20) << "it was one call that took long";
}

TEST_F(FakeStopwatch, EachSampleHasItsOwnTime) {
  const auto stopwatch = make();
  for (const double us : {5.0, 50.0, 500.0}) EXPECT_NEAR(stopwatch->time(run_for(us), 1), us, 1e-3);
}

TEST_F(FakeStopwatch, EventsAreReusedAndAllIsFreed) {
  {
    const auto stopwatch = make();
    for (int i = 0; i < 5; ++i) stopwatch->time(run_for(1), 1);
    EXPECT_EQ(fake_.calls["cuEventCreate"], 2);
    EXPECT_EQ(fake_.calls["cuMemAlloc"], 1);
  }
  expect_nothing_is_open();
  EXPECT_EQ(fake_.current, nullptr);
}

TEST_F(FakeStopwatch, TheFlushIsTwiceTheL2AndNotSmall) {
  make()->time(run_for(1), 1);
  fake_.l2_bytes = 200 << 20;
  make()->time(run_for(1), 1);
  ASSERT_FALSE(fake_.memset_bytes.empty());
  EXPECT_EQ(fake_.memset_bytes.front(), 256u << 20);
  EXPECT_EQ(fake_.memset_bytes.back(), 400u << 20);
}

TEST_F(FakeStopwatch, EverythingGoesToTheGivenStream) {
  int stream = 0;
  const auto stopwatch = make(&stream);
  stopwatch->time(run_for(1), 1);
  stopwatch->wait();
  EXPECT_EQ(fake_.streams, std::vector<void*>(7, &stream));
  EXPECT_EQ(fake_.stream_log.back(), "wait");
}

TEST_F(FakeStopwatch, UsableAfterRunThrew) {
  const auto stopwatch = make();
  const auto throws = [] { throw UserError("no"); };
  EXPECT_NEAR(stopwatch->time(run_for(7), 1), 7, 1e-3);
  EXPECT_THROW(stopwatch->time(throws, 1), UserError);
  EXPECT_THROW(stopwatch->time(throws, 1), UserError);
  EXPECT_NEAR(stopwatch->time(run_for(8), 1), 8, 1e-3);
}

TEST_F(FakeStopwatch, WithoutAContextTheFirstDevicesIsUsed) {
  {
    const auto stopwatch = make();
    EXPECT_EQ(fake_.primary_holds, 1);
    void* during = nullptr;
    stopwatch->time([&] { during = fake_.current; }, 1);
    EXPECT_EQ(during, fake_.primary);
    EXPECT_EQ(fake_.current, nullptr);
  }
  EXPECT_EQ(fake_.current, nullptr);
  expect_nothing_is_open();
}

TEST_F(FakeStopwatch, AContextOfTheCallersStaysTheirs) {
  fake_.current = fake_.created;
  {
    const auto stopwatch = make();
    stopwatch->time(run_for(1), 1);
    EXPECT_EQ(fake_.calls["cuDevicePrimaryCtxRetain"], 0);
    // Other code runs in between.
    fake_.current = fake_.primary;
    stopwatch->time(run_for(1), 1);
    EXPECT_EQ(fake_.current, fake_.primary);
  }
  EXPECT_EQ(fake_.current, fake_.primary);
  expect_nothing_is_open();
}

TEST_F(FakeStopwatch, APrimaryContextOutlivesWhoMadeIt) {
  auto first = make();
  auto second = make();
  EXPECT_EQ(fake_.primary_holds, 2);
  first.reset();
  EXPECT_EQ(fake_.primary_holds, 1);
  EXPECT_NEAR(second->time(run_for(3), 1), 3, 1e-3);
  second.reset();
  EXPECT_EQ(fake_.current, nullptr);
  expect_nothing_is_open();
}

TEST_F(FakeStopwatch, APrimaryContextBesideTheCurrentOneIsLetGo) {
  fake_.current = fake_.created;
  fake_.primary_holds = 1;  // held by other code
  {
    const auto stopwatch = make();
    EXPECT_EQ(fake_.primary_holds, 1);
  }
  EXPECT_EQ(fake_.primary_holds, 1);
  EXPECT_EQ(fake_.current, fake_.created);
}

// If any driver call fails, first or later: a DeviceError that names it, and nothing leaks.
TEST_F(FakeStopwatch, EveryFailureIsADeviceErrorAndNothingLeaks) {
  const char* const calls[] = {
      "cuCtxGetCurrent", "cuCtxSetCurrent",      "cuDeviceGet",        "cuDevicePrimaryCtxRetain",
      "cuMemAlloc",      "cuDeviceGetAttribute", "cuEventCreate",      "cuMemsetD32Async",
      "cuEventRecord",   "cuEventSynchronize",   "cuEventElapsedTime", "cuStreamSynchronize"};
  for (const std::string call : calls) {
    for (const int from : {1, 2}) {
      SCOPED_TRACE(call + " fails from call " + std::to_string(from));
      fresh_fake();
      fake_.failing_code = 700;
      fake_.failing_from = from;
      fake_.failing_call = call;
      std::string failed;
      int made = from;  // such calls, before the destructor's
      try {
        const auto stopwatch = make();
        try {
          for (int i = 0; i < 2; ++i) stopwatch->time(run_for(1), 1);
          stopwatch->wait();
        } catch (const DeviceError& error) {
          failed = error.call();
        }
        made = fake_.calls[call];
        fake_.failing_call.clear();  // anything still open then was leaked by the stopwatch
      } catch (const DeviceError& error) {
        failed = error.call();
      }
      // Its second call restores the previous context: failures are not reported.
      const bool is_told = made >= from && !(call == "cuCtxSetCurrent" && from == 2);
      EXPECT_EQ(failed, is_told ? call : "");
      expect_nothing_is_open();
    }
  }
}

TEST_F(FakeStopwatch, DestructorsSwallowWhatADeadDeviceSays) {
  for (const char* call : {"cuCtxGetCurrent", "cuMemFree", "cuEventDestroy"}) {
    auto stopwatch = make();
    stopwatch->time(run_for(1), 1);
    fake_.failing_call = call;
    fake_.failing_code = 700;
    EXPECT_NO_THROW(stopwatch.reset());
    fresh_fake();
  }
}

// From here on, on a GPU.
class GpuStopwatch : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_cuda(); !why.empty()) GTEST_SKIP() << why;
    context_ = CudaContext::current(cuda_driver());
    scope_.emplace(*context_);
    cuda_driver().mem_alloc(&memory_, kBytes);
  }
  ~GpuStopwatch() override {
    if (memory_) cuda_driver().mem_free.code(memory_);
  }

  std::function<void()> fill(std::size_t bytes, CUstream stream = nullptr) const {
    return [address = memory_, bytes, stream] {
      cuda_driver().memset_d32_async(address, 1, bytes / 4, stream);
    };
  }

  static constexpr std::size_t kBytes = std::size_t{64} << 20;
  CudaContextPtr context_;
  std::optional<ContextScope> scope_;
  CUdeviceptr memory_ = 0;
};

TEST_F(GpuStopwatch, EverySampleHasItsTime) {
  const auto stopwatch = cuda_event_stopwatch(nullptr);
  for (int calls = 1; calls < 5; ++calls) EXPECT_GT(stopwatch->time(fill(kBytes), calls), 0);
}

TEST_F(GpuStopwatch, EventsFollowEachOther) {
  const CudaDriver& driver = cuda_driver();
  CUevent events[3] = {};
  for (CUevent& event : events) {
    driver.event_create(&event, 0);
    driver.event_record(event, nullptr);
    fill(kBytes)();
  }
  driver.event_synchronize(events[2]);
  float first = 0;
  float both = 0;
  driver.event_elapsed_time(&first, events[0], events[1]);
  driver.event_elapsed_time(&both, events[0], events[2]);
  EXPECT_GT(first, 0);
  EXPECT_GT(both, first);
  for (CUevent event : events) driver.event_destroy(event);
}

TEST_F(GpuStopwatch, MoreWorkTakesLonger) {
  const std::vector<std::function<void()>> runs{fill(1 << 20), fill(kBytes)};
  const std::vector<BenchResult> results =
      bench_in_turns(runs, {.seconds = 0.05, .clock = BenchClock::cuda});
  EXPECT_GT(results[0].median_us, 0);
  EXPECT_GT(results[1].median_us, results[0].median_us);  // 64 times the bytes
  EXPECT_EQ(results[1].calls_per_sample, 1);
  EXPECT_GE(results[1].samples, 5);
}

TEST_F(GpuStopwatch, TimesAStreamOfTheCallers) {
  const CudaDriver& driver = cuda_driver();
  CUstream stream = nullptr;
  driver.stream_create(&stream, kCudaStreamNonBlocking);
  const BenchOptions options{.seconds = 0.02, .clock = BenchClock::cuda, .cuda_stream = stream};
  EXPECT_GT(bench(fill(kBytes, stream), options).median_us, 0);
  EXPECT_GT(host_cost_us(fill(kBytes, stream), options), 0);
  driver.stream_destroy(stream);
}

TEST_F(GpuStopwatch, TwoAtOnce) {
  const CudaDriver& driver = cuda_driver();
  CUstream stream = nullptr;
  driver.stream_create(&stream, kCudaStreamNonBlocking);
  auto on_default = cuda_event_stopwatch(nullptr);
  const auto on_other = cuda_event_stopwatch(stream);
  for (int i = 0; i < 3; ++i) {
    EXPECT_GT(on_default->time(fill(kBytes), 1), 0);
    EXPECT_GT(on_other->time(fill(kBytes, stream), 1), 0);
  }
  on_default.reset();
  EXPECT_GT(on_other->time(fill(kBytes, stream), 1), 0);
  on_other->wait();
  driver.stream_destroy(stream);
}

TEST_F(GpuStopwatch, UsableAfterRunThrew) {
  const auto stopwatch = cuda_event_stopwatch(nullptr);
  EXPECT_THROW(stopwatch->time([] { throw UserError("no"); }, 1), UserError);
  EXPECT_GT(stopwatch->time(fill(kBytes), 1), 0);
}

// The caller has no context: the stopwatch's is current while it is used.
TEST_F(GpuStopwatch, WithoutAContextOfTheCallers) {
  const CudaDriver& driver = cuda_driver();
  driver.ctx_set_current(nullptr);
  {
    const auto stopwatch = cuda_event_stopwatch(nullptr);
    EXPECT_GT(stopwatch->time(fill(kBytes), 1), 0);
  }
  CUcontext current = nullptr;
  driver.ctx_get_current(&current);
  EXPECT_EQ(current, nullptr);
  driver.ctx_set_current(context_->handle());
}

TEST_F(GpuStopwatch, TooMuchMemoryIsAnOutOfMemoryError) {
  CUdeviceptr address = 0;
  EXPECT_THROW(cuda_driver().mem_alloc(&address, std::size_t{1} << 48), OutOfMemoryError);
  const auto stopwatch = cuda_event_stopwatch(nullptr);  // nothing was lost
  EXPECT_GT(stopwatch->time(fill(kBytes), 1), 0);
}

}  // namespace
}  // namespace sinter
