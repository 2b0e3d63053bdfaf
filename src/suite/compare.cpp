// The limit is the control: a copy in the same run, of which Sinter's code is no part. A machine
// that got slower slows the copy too, and that much is not held against a row. The scatter of all
// rows' changes is the noise between the two runs.
#include "src/suite/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace sinter::suite {
namespace {

constexpr double kSmallest = 0.05;     // changes below this are not worth a word
constexpr double kLeastSigma = 0.015;  // of a row, however alike two runs look
constexpr double kSigmas = 3;
constexpr double kSigmaOfMad =
    1.4826;  // a normal distribution's deviation, of its median deviation

std::string key_of(const ResultRow& row) {
  return fmt::format("{} {} {} {}", row.case_name, row.shape, row.dtype, row.provider);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double log_ratio(double now, double before) { return std::log(now / before); }

double drift_of(const ResultRow& before, const ResultRow& now) {
  if (!before.limit_us || !now.limit_us || *before.limit_us <= 0 || *now.limit_us <= 0) return 0;
  return log_ratio(*now.limit_us, *before.limit_us);
}

// Half the distance between the 20% and the 80% quantile: about one standard deviation.
double spread(const BenchResult& timing) {
  return (timing.p80_us - timing.p20_us) / 2 / timing.median_us;
}

Verdict verdict_of(double change, double noise) {
  if (std::exp(change) > 1 + noise) return Verdict::slower;
  if (std::exp(-change) > 1 + noise) return Verdict::faster;
  return Verdict::same;
}

struct Pair {
  const ResultRow* before;
  const ResultRow* now;
  double change;  // as logarithms: of the row,
  double drift;   // of its limit

  // The part of the change that the limit's does not explain. A limit that moved the other way
  // explains nothing: a compute-bound row does not follow it.
  double unexplained() const {
    if (change > 0) return std::max(0.0, std::min(change, change - drift));
    return std::min(0.0, std::max(change, change - drift));
  }

  // The samples of a row scatter around its median; that one is as uncertain, at most.
  double own_noise() const { return std::hypot(spread(*before->timing), spread(*now->timing)); }
};

bool is_timed(const ResultRow& row) { return row.timing && row.timing->median_us > 0; }

std::vector<Pair> pairs_of(const Results& before, const Results& now, Comparison& result) {
  std::map<std::string, const ResultRow*> old_rows;
  for (const ResultRow& row : before.rows)
    if (is_timed(row)) old_rows[key_of(row)] = &row;
  std::vector<Pair> pairs;
  std::size_t fresh = 0;
  for (const ResultRow& row : now.rows) {
    if (!is_timed(row)) continue;
    const auto old = old_rows.find(key_of(row));
    if (old == old_rows.end()) {
      ++fresh;
      continue;
    }
    const double change = log_ratio(row.timing->median_us, old->second->timing->median_us);
    pairs.push_back({old->second, &row, change, drift_of(*old->second, row)});
    old_rows.erase(old);
  }
  if (fresh) result.notes.push_back(fmt::format("{} rows are new: nothing to compare with", fresh));
  if (!old_rows.empty())
    result.notes.push_back(
        fmt::format("{} rows of the older run were not measured this time", old_rows.size()));
  return pairs;
}

void note_differences(const Results& before, const Results& now, Comparison& result) {
  const auto note = [&](const char* what, const std::string& a, const std::string& b) {
    if (a != b)
      result.notes.push_back(fmt::format("the runs differ in {}: '{}' then, '{}' now", what, a, b));
  };
  note("device", before.device, now.device);
  note("machine", before.description, now.description);
}

// A standard deviation that a few rows which really changed do not disturb.
double scatter(std::vector<double> changes) {
  const double middle = median(changes);
  for (double& change : changes) change = std::abs(change - middle);
  return kSigmaOfMad * median(std::move(changes));
}

// Of a row between the two runs, from how far the rows' changes lie from each other: what slows all
// of them alike is no noise. Rows may follow their limits or not, so both are looked at.
double noise_between(const std::vector<Pair>& pairs) {
  std::vector<double> changes;
  std::vector<double> beside_limit;
  for (const Pair& pair : pairs) {
    changes.push_back(pair.change);
    beside_limit.push_back(pair.change - pair.drift);
  }
  return std::max({kLeastSigma, scatter(std::move(changes)), scatter(std::move(beside_limit))});
}

RowChange row_change(const Pair& pair, double sigma) {
  const ResultRow& row = *pair.now;
  RowChange change{
      row.case_name,        row.shape, row.dtype, row.provider, pair.before->timing->median_us,
      row.timing->median_us};
  change.change = std::exp(pair.unexplained());
  change.noise = std::max({kSmallest, kSigmas * sigma, kSigmas * pair.own_noise()});
  change.verdict = verdict_of(pair.unexplained(), change.noise);
  return change;
}

std::vector<CaseChange> case_changes(const std::vector<Pair>& pairs, double sigma) {
  struct Sum {
    double change = 0;
    double variance = 0;
    int rows = 0;
  };
  std::map<std::array<std::string, 3>, Sum> sums;
  for (const Pair& pair : pairs) {
    Sum& sum = sums[{pair.now->case_name, pair.now->dtype, pair.now->provider}];
    const double deviation = std::max(sigma, pair.own_noise());
    sum.change += pair.unexplained();
    sum.variance += deviation * deviation;
    ++sum.rows;
  }
  std::vector<CaseChange> changes;
  for (const auto& [key, sum] : sums) {
    if (sum.rows < 2) continue;
    const double mean = sum.change / sum.rows;
    CaseChange change{key[0], key[1], key[2], sum.rows, std::exp(mean)};
    change.noise = std::max(kSmallest, kSigmas * std::sqrt(sum.variance) / sum.rows);
    change.verdict = verdict_of(mean, change.noise);
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

bool Comparison::any_slower() const {
  const auto is_slower = [](const auto& each) { return each.verdict == Verdict::slower; };
  return std::any_of(rows.begin(), rows.end(), is_slower) ||
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
