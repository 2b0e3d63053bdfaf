// Timing: turns are fair, samples are enough, the copy that is the limit copies.
#include "src/suite/timing.h"

#include <gtest/gtest.h>
#include <sinter/device.h>

#include <chrono>
#include <thread>

#include "src/runtime/registry.h"
#include "src/suite/copy_limit.h"

namespace sinter::suite {
namespace {

TEST(Timing, TellsFastFromSlow) {
  const auto sleep = [](int ms) {
    return [ms] { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); };
  };
  const std::vector<std::function<void()>> runs{sleep(1), sleep(6)};
  const std::vector<Timing> timings = time_in_turns(runs, {.seconds = 0.05});
  ASSERT_EQ(timings.size(), 2u);
  EXPECT_GE(timings[0].median_us, 1000);
  EXPECT_GE(timings[1].median_us, 6000);
  EXPECT_LT(timings[0].median_us, timings[1].median_us);
  EXPECT_EQ(timings[0].samples, timings[1].samples);
  EXPECT_GE(timings[0].samples, 5);
  EXPECT_LE(timings[0].p20_us, timings[0].median_us);
  EXPECT_LE(timings[0].median_us, timings[0].p80_us);
}

TEST(Timing, ShortCallsAreTimedTogether) {
  int calls = 0;
  const std::vector<std::function<void()>> runs{[&] { ++calls; }};
  const std::vector<Timing> timings = time_in_turns(runs, {.seconds = 0.001});
  EXPECT_GT(calls, 100 * timings[0].samples);
  EXPECT_LT(timings[0].median_us, 1);
}

TEST(ParallelCopy, CopiesAllAndNoMore) {
  ThreadPool threads(3);
  devices();
  for (std::size_t bytes : {1u, 63u, 64u, 4095u, 4097u, 100'001u}) {
    const StoragePtr from = find_device("cpu")->allocate(bytes);
    const StoragePtr to = find_device("cpu")->allocate(bytes + 1);
    auto* source = static_cast<unsigned char*>(from->data());
    auto* target = static_cast<unsigned char*>(to->data());
    for (CopyKind kind : {CopyKind::plain, CopyKind::streaming}) {
      for (std::size_t i = 0; i < bytes; ++i) source[i] = static_cast<unsigned char>(i * 7 + 1);
      std::fill_n(target, bytes + 1, 0);
      parallel_copy(threads, kind, source, target, bytes);
      EXPECT_TRUE(std::equal(source, source + bytes, target)) << bytes;
      EXPECT_EQ(target[bytes], 0) << bytes;
    }
  }
}

TEST(CopyLimit, ChoosesAWayAndRuns) {
  ThreadPool threads(2);
  devices();
  for (std::int64_t bytes : {2, 131'072, 64 << 20}) {
    const CopyLimit limit(bytes, *find_device("cpu"), threads);
    limit.run();
  }
}

}  // namespace
}  // namespace sinter::suite
