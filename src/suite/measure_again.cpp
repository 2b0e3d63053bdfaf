// What looks slower is taken out of the run, which is then resumed.
#include <cmath>
#include <set>

#include "src/suite/compare.h"

namespace sinter::suite {
namespace {

template <typename Row>
std::string title_of(const Row& row) {
  return row.case_name + " " + row.shape + " " + row.dtype;
}

constexpr int kRounds = 3;
constexpr double kWorthALook = 1.08;  // whatever the noise: a better look may be less noisy
constexpr double kSameLimit = 0.1;

// Combinations of case, shape and type of which a provider looks slower, alone or with its case, or
// cannot be judged.
std::set<std::string> suspicious(const Comparison& comparison) {
  std::set<std::string> slow_cases;
  for (const CaseChange& each : comparison.cases)
    if (each.verdict == Verdict::slower)
      slow_cases.insert(each.case_name + " " + each.dtype + " " + each.provider);
  std::set<std::string> titles;
  for (const RowChange& row : comparison.rows)
    if (row.verdict == Verdict::slower || row.undecided || row.change > kWorthALook ||
        slow_cases.contains(row.case_name + " " + row.dtype + " " + row.provider))
      titles.insert(title_of(row));
  return titles;
}

ResultRow* find_row(Results& results, const ResultRow& like) {
  for (ResultRow& row : results.rows)
    if (title_of(row) == title_of(like) && row.provider == like.provider) return &row;
  return nullptr;
}

// How far the copy of a row's run is from that of the older run.
double distance(const ResultRow& row, const ResultRow* before) {
  if (!before || !before->limit_us || !row.limit_us) return 0;
  const double change = std::abs(std::log(*row.limit_us / *before->limit_us));
  return change < kSameLimit ? 0 : change;
}

bool is_better(const ResultRow& second, const ResultRow& first, const ResultRow* before) {
  if (!second.timing || !first.timing) return false;
  const double far = distance(second, before) - distance(first, before);
  return far < 0 || (far == 0 && second.timing->min_us < first.timing->min_us);
}

std::size_t measure_once_more(Results& before, const SuiteOptions& options,
                              const ProgressCallback& progress, Results& now) {
  const std::set<std::string> titles = suspicious(compare(before, now));
  if (titles.empty()) return 0;
  SuiteOptions again = options;
  again.resumed = now;
  std::erase_if(again.resumed->rows,
                [&](const ResultRow& row) { return titles.contains(title_of(row)); });
  const Results second = run_suite(again, progress);
  std::size_t count = 0;
  for (const ResultRow& row : second.rows) {
    if (!titles.contains(title_of(row))) continue;
    ++count;
    ResultRow* first = find_row(now, row);
    if (first && is_better(row, *first, find_row(before, row))) *first = row;
  }
  return count;
}

}  // namespace

std::size_t measure_again(Results before, const SuiteOptions& options,
                          const ProgressCallback& progress, Results& now) {
  std::size_t count = 0;
  for (int round = 0; round < kRounds && !now.interrupted; ++round) {
    const std::size_t measured = measure_once_more(before, options, progress, now);
    if (measured == 0) break;
    count += measured;
  }
  return count;
}

}  // namespace sinter::suite
