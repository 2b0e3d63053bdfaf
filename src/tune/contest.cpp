// Compares neighbouring samples, so that noise on the device affects both alike. The order
// alternates.
#include "src/tune/contest.h"

#include <algorithm>
#include <cmath>

namespace sinter {
namespace {

constexpr double kHopeless = 1.5;  // ratio at the first samples that ends the contest
constexpr int kFirstRounds = 3;
constexpr double kGain = 0.02;

double quantile(std::vector<double> values, double share) {
  const auto at =
      static_cast<std::ptrdiff_t>(std::lround(share * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

class Samples {
 public:
  Samples(const std::function<void()>& champion, const std::function<void()>& challenger,
          Stopwatch& stopwatch)
      : champion_(champion), challenger_(challenger), stopwatch_(stopwatch) {}

  void take(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const bool champion_first = champion_us_.size() % 2 == 0;
      if (champion_first) champion_us_.push_back(stopwatch_.time(champion_, 1));
      challenger_us_.push_back(stopwatch_.time(challenger_, 1));
      if (!champion_first) champion_us_.push_back(stopwatch_.time(champion_, 1));
    }
  }

  Contest contest() const {
    Contest result;
    result.champion_us = quantile(champion_us_, 0.5);
    result.challenger_us = quantile(challenger_us_, 0.5);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < champion_us_.size(); ++i)
      // A clock that returns 0 decides nothing.
      ratios.push_back(champion_us_[i] > 0 ? challenger_us_[i] / champion_us_[i] : 1);
    result.ratio = quantile(ratios, 0.5);
    // For a normal distribution p80 - p20 is 1.68 standard deviations; the median's standard error
    // is 1.25 standard deviations divided by the square root of the count.
    const double deviation = (quantile(ratios, 0.8) - quantile(ratios, 0.2)) / 1.68;
    result.noise = 2 * 1.25 * deviation / std::sqrt(static_cast<double>(ratios.size()));
    return result;
  }

 private:
  const std::function<void()>& champion_;
  const std::function<void()>& challenger_;
  Stopwatch& stopwatch_;
  std::vector<double> champion_us_;
  std::vector<double> challenger_us_;
};

}  // namespace

bool Contest::is_won() const { return !stopped && ratio + noise < 1 - kGain; }

Contest hold_contest(const std::function<void()>& champion, const std::function<void()>& challenger,
                     int rounds, Stopwatch& stopwatch) {
  Samples samples(champion, challenger, stopwatch);
  samples.take(std::min(rounds, kFirstRounds));
  Contest first = samples.contest();
  first.stopped = first.challenger_us > kHopeless * first.champion_us;
  if (first.stopped || rounds <= kFirstRounds) return first;
  samples.take(rounds - kFirstRounds);
  return samples.contest();
}

}  // namespace sinter
