// What looks slower is taken out of the run, which is then resumed.
#include <set>

#include "src/suite/compare.h"

namespace sinter::suite {
namespace {

template <typename Row>
std::string title_of(const Row& row) {
  return row.case_name + " " + row.shape + " " + row.dtype;
}

// Combinations of case, shape and type of which a provider looks slower, alone or with its case.
std::set<std::string> suspicious(const Comparison& comparison) {
  std::set<std::string> slow_cases;
  for (const CaseChange& each : comparison.cases)
    if (each.verdict == Verdict::slower)
      slow_cases.insert(each.case_name + " " + each.dtype + " " + each.provider);
  std::set<std::string> titles;
  for (const RowChange& row : comparison.rows)
    if (row.verdict == Verdict::slower ||
        slow_cases.contains(row.case_name + " " + row.dtype + " " + row.provider))
      titles.insert(title_of(row));
  return titles;
}

ResultRow* find_row(Results& results, const ResultRow& like) {
  for (ResultRow& row : results.rows)
    if (title_of(row) == title_of(like) && row.provider == like.provider) return &row;
  return nullptr;
}

}  // namespace

std::size_t measure_again(const Results& before, const SuiteOptions& options,
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
    if (first && row.timing && first->timing && row.timing->median_us < first->timing->median_us)
      *first = row;
  }
  return count;
}

}  // namespace sinter::suite
