// Timing with a given clock.
#include "src/profile/bench_stopwatch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace sinter {
namespace {

// Reports scripted durations; counts work that was not waited for.
class ToldStopwatch : public Stopwatch {
 public:
  double time(const std::function<void()>& run, int calls) override {
    for (int i = 0; i < calls; ++i) run();
    return told_us;
  }
  void wait() override {
    most_queued = std::max(most_queued, queued);
    queued = 0;
    ++waits;
  }
  bool resolves_single_calls() const override { return true; }

  double told_us = 0;
  int queued = 0;
  int most_queued = 0;
  int waits = 0;
};

TEST(BenchStopwatch, TimesAreTheClocks) {
  ToldStopwatch stopwatch;
  const std::array<std::function<void()>, 2> runs{[&] { stopwatch.told_us = 3; },
                                                  [&] { stopwatch.told_us = 5; }};
  const auto results = bench_in_turns(runs, {.seconds = 0.001, .max_samples = 20}, stopwatch);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].median_us, 3);
  EXPECT_EQ(results[1].median_us, 5);
}

TEST(BenchStopwatch, HostCostKeepsTheQueueShort) {
  for (const int most : {1, 7, kHostCalls}) {
    ToldStopwatch stopwatch;
    host_cost_us([&] { ++stopwatch.queued; }, {.seconds = 0.01, .max_samples = 10}, stopwatch,
                 most);
    EXPECT_LE(stopwatch.most_queued, most);
    EXPECT_GT(stopwatch.waits, 1);
  }
}

}  // namespace
}  // namespace sinter
