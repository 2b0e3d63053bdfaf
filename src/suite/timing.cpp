// Rounds of one sample each, starting with another function each round.
#include "src/suite/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace sinter::suite {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSampleUs = 200;
constexpr double kShortUs = 5000;  // shorter calls get an unmeasured one before them
constexpr int kMaxCalls = 2000;
constexpr int kMaxSamples = 2000;
// The worker threads of whoever ran last spin for a while, on cores that the next one needs.
constexpr auto kPause = std::chrono::microseconds(60);

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double time_calls(const std::function<void()>& run, int calls) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) run();
  return us_since(start) / calls;
}

struct Contender {
  const std::function<void()>* run;
  int calls = 1;
  bool is_short = true;
  std::vector<double> samples;

  void warm_up() {
    double us = time_calls(*run, 1);
    us = std::min(us, time_calls(*run, us < kShortUs ? 3 : 1));
    calls = std::clamp(static_cast<int>(std::ceil(kSampleUs / us)), 1, kMaxCalls);
    is_short = us < kShortUs;
  }

  void sample() {
    if (is_short) {
      std::this_thread::sleep_for(kPause);
      (*run)();
    }
    samples.push_back(time_calls(*run, calls));
  }
};

Timing summary(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(samples.size() - 1);
    return samples[static_cast<std::size_t>(std::lround(place))];
  };
  return {at(0.5), at(0.2), at(0.8), static_cast<int>(samples.size())};
}

}  // namespace

std::vector<Timing> time_in_turns(std::span<const std::function<void()>> runs,
                                  const TimingBudget& budget) {
  std::vector<Contender> contenders;
  for (const auto& run : runs) contenders.push_back({&run, 1, true, {}});
  for (Contender& each : contenders) each.warm_up();

  const auto start = Clock::now();
  const std::size_t count = contenders.size();
  for (int round = 0; round < kMaxSamples; ++round) {
    if (round >= budget.min_samples && us_since(start) > budget.seconds * 1e6) break;
    for (std::size_t i = 0; i < count; ++i)
      contenders[(i + static_cast<std::size_t>(round)) % count].sample();
  }

  std::vector<Timing> timings;
  for (Contender& each : contenders) timings.push_back(summary(std::move(each.samples)));
  return timings;
}

}  // namespace sinter::suite
