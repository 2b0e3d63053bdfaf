// Takes samples in rounds, one per function, starting with a different function each round. In:
// functions. Out: quantiles of their samples.
#include <sinter/bench.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "src/base/check.h"
#include "src/cuda/event_stopwatch.h"
#include "src/profile/bench_stopwatch.h"
#include "src/profile/stopwatch_for.h"
#include "src/profile/summary.h"
#include "src/runtime/stopwatch.h"

namespace sinter {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSampleUs = 200;
constexpr double kShortUs = 5000;  // shorter calls get an unmeasured call first
constexpr int kMaxCalls = 2000;
// Worker threads of the previous function spin for a while on cores the next one needs.
constexpr auto kPause = std::chrono::microseconds(60);

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check_options(const BenchOptions& options) {
  if (!(options.seconds > 0)) fail_user("bench", "seconds is {}, not above 0", options.seconds);
  if (options.min_samples < 1 || options.max_samples < options.min_samples)
    fail_user("bench", "min_samples is {} and max_samples {}: 1 <= min_samples <= max_samples",
              options.min_samples, options.max_samples);
  for (double share : options.quantiles)
    if (!(share >= 0 && share <= 1))
      fail_user("bench", "the quantile {} is not between 0 and 1", share);
}

// One function and its samples.
class Contender {
 public:
  Contender(const std::function<void()>& run, Stopwatch& stopwatch)
      : run_(run), stopwatch_(stopwatch), single_(stopwatch.resolves_single_calls()) {
    if (!run_) fail_user("bench", "a function to be timed is empty");
  }

  void warm_up() {
    double us = stopwatch_.time(run_, 1);
    us = std::min(us, stopwatch_.time(run_, us < kShortUs ? 3 : 1));
    is_short_ = us < kShortUs;
    if (!single_)
      calls_ = static_cast<int>(std::clamp(std::ceil(kSampleUs / us), 1.0, double{kMaxCalls}));
  }

  void sample() {
    if (!single_ && is_short_) {
      std::this_thread::sleep_for(kPause);
      run_();
    }
    samples_.push_back(stopwatch_.time(run_, calls_));
  }

  BenchResult result(const BenchOptions& options) {
    BenchResult result = summary(std::move(samples_), options);
    result.calls_per_sample = calls_;
    return result;
  }

 private:
  const std::function<void()>& run_;
  Stopwatch& stopwatch_;
  bool single_;
  bool is_short_ = true;
  int calls_ = 1;
  std::vector<double> samples_;
};

}  // namespace

std::unique_ptr<Stopwatch> stopwatch_for(const BenchOptions& options) {
  check_options(options);
  if (options.clock == BenchClock::wall) return wall_stopwatch();
  return cuda_event_stopwatch(options.cuda_stream);
}

std::vector<BenchResult> bench_in_turns(std::span<const std::function<void()>> runs,
                                        const BenchOptions& options) {
  return bench_in_turns(runs, options, *stopwatch_for(options));
}

std::vector<BenchResult> bench_in_turns(std::span<const std::function<void()>> runs,
                                        const BenchOptions& options, Stopwatch& stopwatch) {
  check_options(options);
  std::vector<Contender> contenders;
  for (const auto& run : runs) contenders.emplace_back(run, stopwatch);
  for (Contender& each : contenders) each.warm_up();

  const auto start = Clock::now();
  const std::size_t count = contenders.size();
  for (int round = 0; round < options.max_samples; ++round) {
    if (round >= options.min_samples && seconds_since(start) > options.seconds) break;
    for (std::size_t i = 0; i < count; ++i)
      contenders[(i + static_cast<std::size_t>(round)) % count].sample();
  }

  std::vector<BenchResult> results;
  for (Contender& each : contenders) results.push_back(each.result(options));
  return results;
}

BenchResult bench(const std::function<void()>& run, const BenchOptions& options) {
  return bench_in_turns({&run, 1}, options).front();
}

double host_cost_us(const std::function<void()>& run, const BenchOptions& options) {
  return host_cost_us(run, options, *stopwatch_for(options), kHostCalls);
}

double host_cost_us(const std::function<void()>& run, const BenchOptions& options,
                    Stopwatch& stopwatch, int most_calls) {
  if (!run) fail_user("bench", "a function to be timed is empty");
  run();
  stopwatch.wait();
  std::vector<double> batches;
  double spent = 0;
  while (spent < options.seconds && std::ssize(batches) < options.max_samples) {
    const auto start = Clock::now();
    int calls = 0;
    // Long calls do not need a hundred repetitions: a tenth of the time is enough for a batch.
    do {
      run();
      ++calls;
    } while (calls < most_calls && seconds_since(start) < options.seconds / 10);
    const double seconds = seconds_since(start);
    stopwatch.wait();
    spent += seconds;
    batches.push_back(seconds * 1e6 / calls);
  }
  const auto middle = batches.begin() + std::ssize(batches) / 2;
  std::nth_element(batches.begin(), middle, batches.end());
  return *middle;
}

}  // namespace sinter
