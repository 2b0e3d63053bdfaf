// The limit is the control: a copy timed in turns with the row, independent of Sinter's code. A
// change counts as far as the row's time and its time relative to the limit agree. The scatter of
// all rows' changes is the noise between the two runs.
#include "src/suite/results/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace sinter::suite {
namespace {

constexpr double kSmallest = 0.05;        // smaller changes of a row are not reported
constexpr double kSmallestOfCase = 0.08;  // for a case: rows of one case are disturbed together
constexpr double kLeastSigma = 0.015;     // of a row, however similar two runs look
constexpr double kSigmas = 3;
constexpr double kSigmasOfRow = 5;  // there are many rows
// Standard deviation of a normal distribution, in units of its median absolute deviation.
constexpr double kSigmaOfMad = 1.4826;
// Standard error of a median, times the root of the count.
constexpr double kSigmaOfMedian = 1.2533;

std::string key_of(const ResultRow& row) { return row.title() + " " + row.provider; }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double log_ratio(double now, double before) { return std::log(now / before); }

// Approximate standard deviation from a quantile range, relative to the median.
double spread(double p20, double p80, double median) { return (p80 - p20) / 2 / median; }
double spread(const BenchResult& timing) {
  return spread(timing.p20_us, timing.p80_us, timing.median_us);
}
double spread(const LimitRatio& ratio) { return spread(ratio.p20, ratio.p80, ratio.median); }

Verdict verdict_of(double change, double noise) {
  if (std::exp(change) > 1 + noise) return Verdict::slower;
  if (std::exp(-change) > 1 + noise) return Verdict::faster;
  return Verdict::same;
}

// A row in both runs. Changes are logarithms.
class Pair {
 public:
  Pair(const ResultRow& before, const ResultRow& now) : before_(&before), now_(&now) {
    // The fastest sample: a shared machine has slow seconds, but none that are too fast.
    time_ = log_ratio(now.timing->min_us, before.timing->min_us);
    if (before.limit_us && now.limit_us && *before.limit_us > 0 && *now.limit_us > 0)
      limit_ = log_ratio(*now.limit_us, *before.limit_us);
    // Sample by sample if possible: the limit's median may come from another minute.
    const bool paired = before.limit_ratio && now.limit_ratio;
    in_limits_ =
        paired ? log_ratio(now.limit_ratio->median, before.limit_ratio->median) : time_ - limit_;
    own_noise_ = std::hypot(spread(*before.timing), spread(*now.timing));
    if (paired)
      own_noise_ =
          std::min(own_noise_, std::hypot(spread(*before.limit_ratio), spread(*now.limit_ratio)));
  }

  const ResultRow& before() const { return *before_; }
  const ResultRow& now() const { return *now_; }

  double time() const { return time_; }
  double in_limits() const { return in_limits_; }

  // What the time and the time relative to the limit agree on. A compute-bound row does not follow
  // its limit, a memory-bound row follows nothing else; where they disagree, the machine may have
  // changed.
  double change() const {
    if (time_ > 0) return std::max(0.0, std::min(time_, in_limits_));
    return std::min(0.0, std::max(time_, in_limits_));
  }
  // They disagree on whether it is slower, and the copy changed as well.
  bool is_undecided() const {
    return std::max(time_, in_limits_) > kSmallest && change() < kSmallest && !same_machine();
  }
  bool same_machine() const { return std::abs(limit_) < kSameLimit; }
  double own_noise() const { return own_noise_; }

 private:
  const ResultRow* before_;
  const ResultRow* now_;
  double time_ = 0;
  double in_limits_ = 0;
  double limit_ = 0;
  double own_noise_ = 0;  // of the steadier of both
};

// A wrong result has no speed.
bool is_timed(const ResultRow& row) {
  return !row.failed() && row.timing && row.timing->min_us > 0;
}

// Only Sinter's own rows: a slower PyTorch does not count against it.
std::vector<Pair> pairs_of(const Results& before, const Results& now, Comparison& result) {
  std::map<std::string, const ResultRow*> old_rows;
  for (const ResultRow& row : before.rows)
    if (is_timed(row) && !row.is_peers()) old_rows[key_of(row)] = &row;
  std::vector<Pair> pairs;
  std::size_t fresh = 0;
  for (const ResultRow& row : now.rows) {
    if (row.is_peers()) continue;
    const auto old = old_rows.find(key_of(row));
    if (row.failed() && old != old_rows.end()) ++result.failed_now;
    if (is_timed(row) && old != old_rows.end()) pairs.emplace_back(*old->second, row);
    if (is_timed(row) && old == old_rows.end()) ++fresh;
    if (old != old_rows.end() && (is_timed(row) || row.failed())) old_rows.erase(old);
  }
  const auto note = [&](std::size_t count, const char* what) {
    if (count)
      result.notes.push_back(fmt::format("{} row{} {}", count, count == 1 ? "" : "s", what));
  };
  note(result.failed_now, "failed this time and worked before");
  note(fresh, "new: nothing to compare with");
  note(old_rows.size(), "of the older run not measured this time");
  return pairs;
}

void note_differences(const Results& before, const Results& now, Comparison& result) {
  const auto note = [&](const char* what, const std::string& a, const std::string& b) {
    if (a != b)
      result.notes.push_back(fmt::format("the runs differ in {}: '{}' then, '{}' now", what, a, b));
  };
  note("device", before.device, now.device);
  note("machine", before.description, now.description);
  note("random set", describe(before.random ? &*before.random : nullptr),
       describe(now.random ? &*now.random : nullptr));
}

// A standard deviation that is robust against a few rows that really changed.
double scatter(std::vector<double> changes) {
  const double middle = median(changes);
  for (double& change : changes) change = std::abs(change - middle);
  return kSigmaOfMad * median(std::move(changes));
}

// Noise of a row between the two runs, from the scatter of the rows' changes: a slowdown common to
// all rows is not noise. Uses the steadier of time and relative time, since both must show a
// slowdown.
double noise_between(const std::vector<Pair>& pairs) {
  std::vector<double> times;
  std::vector<double> in_limits;
  for (const Pair& pair : pairs) {
    times.push_back(pair.time());
    in_limits.push_back(pair.in_limits());
  }
  return std::max(kLeastSigma, std::min(scatter(std::move(times)), scatter(std::move(in_limits))));
}

RowChange row_change(const Pair& pair, double sigma) {
  const ResultRow& row = pair.now();
  RowChange change{
      row.case_name,        row.shape, row.dtype, row.provider, pair.before().timing->median_us,
      row.timing->median_us};
  change.change = std::exp(pair.change());
  change.noise = std::max({kSmallest, kSigmasOfRow * sigma, kSigmas * pair.own_noise()});
  change.verdict = verdict_of(pair.change(), change.noise);
  change.undecided = pair.is_undecided();
  return change;
}

// Uses the median, since a few rows of every run are far off.
std::vector<CaseChange> case_changes(const std::vector<Pair>& pairs, double sigma) {
  std::map<std::array<std::string, 3>, std::vector<double>> changes_of;
  for (const Pair& pair : pairs)
    changes_of[{pair.now().case_name, pair.now().dtype, pair.now().provider}].push_back(
        pair.change());
  std::vector<CaseChange> changes;
  for (auto& [key, list] : changes_of) {
    if (list.size() < 3) continue;
    const double middle = median(list);
    CaseChange change{key[0], key[1], key[2], static_cast<int>(list.size()), std::exp(middle)};
    const double sigma_of_median = kSigmaOfMedian * sigma / std::sqrt(list.size());
    change.noise = std::max(kSmallestOfCase, kSigmas * sigma_of_median);
    change.verdict = verdict_of(middle, change.noise);
    changes.push_back(change);
  }
  return changes;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "same";
    case Verdict::slower:
      return "slower";
    case Verdict::faster:
      return "faster";
  }
  return "";
}

bool Comparison::is_worse() const {
  const auto is_slower = [](const auto& each) { return each.verdict == Verdict::slower; };
  return failed_now > 0 || std::any_of(rows.begin(), rows.end(), is_slower) ||
         std::any_of(cases.begin(), cases.end(), is_slower);
}

Comparison compare(const Results& before, const Results& now) {
  Comparison result;
  note_differences(before, now, result);
  const std::vector<Pair> pairs = pairs_of(before, now, result);
  result.noise = noise_between(pairs);
  for (const Pair& pair : pairs) result.rows.push_back(row_change(pair, result.noise));
  result.cases = case_changes(pairs, result.noise);
  return result;
}

}  // namespace sinter::suite
