// bench: functions take turns fairly, there are enough samples, options are checked.
#include <gtest/gtest.h>
#include <sinter/bench.h>
#include <sinter/error.h>

#include <chrono>
#include <thread>

namespace sinter {
namespace {

TEST(Bench, TellsFastFromSlow) {
  const auto sleep = [](int ms) {
    return [ms] { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); };
  };
  const std::vector<std::function<void()>> runs{sleep(1), sleep(6)};
  const std::vector<BenchResult> timings = bench_in_turns(runs, {.seconds = 0.05});
  ASSERT_EQ(timings.size(), 2u);
  EXPECT_GE(timings[0].median_us, 1000);
  EXPECT_GE(timings[1].median_us, 6000);
  EXPECT_LT(timings[0].median_us, timings[1].median_us);
  EXPECT_EQ(timings[0].samples, timings[1].samples);
  EXPECT_GE(timings[0].samples, 5);
  EXPECT_LE(timings[0].p20_us, timings[0].median_us);
  EXPECT_LE(timings[0].median_us, timings[0].p80_us);
}

TEST(Bench, ShortCallsAreTimedTogether) {
  int calls = 0;
  const std::vector<std::function<void()>> runs{[&] { ++calls; }};
  const std::vector<BenchResult> timings = bench_in_turns(runs, {.seconds = 0.001});
  EXPECT_GT(calls, 100 * timings[0].samples);
  EXPECT_LT(timings[0].median_us, 1);
}

TEST(Bench, QuantilesAreThoseAskedFor) {
  int calls = 0;
  // Samples of distinct lengths: 1, 2, 3, ... ms.
  const auto growing = [&] { std::this_thread::sleep_for(std::chrono::milliseconds(6 + calls++)); };
  const BenchResult result = bench(
      growing, {.seconds = 1e-6, .min_samples = 5, .max_samples = 5, .quantiles = {0.0, 0.5, 1.0}});
  ASSERT_EQ(result.quantiles_us.size(), 3u);
  EXPECT_EQ(result.quantiles_us[0], result.min_us);
  EXPECT_EQ(result.quantiles_us[1], result.median_us);
  EXPECT_GT(result.quantiles_us[2], result.p80_us);
  EXPECT_LT(result.min_us, result.p20_us);
  EXPECT_EQ(result.samples, 5);
}

TEST(Bench, HostCostIsThatOfACall) {
  const double us = host_cost_us([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); },
                                 {.seconds = 0.02});
  EXPECT_GE(us, 2000);
}

TEST(Bench, RefusesOptionsThatMakeNoSense) {
  const auto nothing = [] {};
  EXPECT_THROW(bench(nothing, {.seconds = 0}), UserError);
  EXPECT_THROW(bench(nothing, {.min_samples = 0}), UserError);
  EXPECT_THROW(bench(nothing, {.min_samples = 9, .max_samples = 8}), UserError);
  EXPECT_THROW(bench(nothing, {.quantiles = {1.5}}), UserError);
  EXPECT_THROW(bench(nullptr), UserError);
}

TEST(Bench, ExceptionsOfTheFunctionPropagate) {
  EXPECT_THROW(bench([] { throw UserError("no"); }, {.seconds = 0.001}), UserError);
}

}  // namespace
}  // namespace sinter
