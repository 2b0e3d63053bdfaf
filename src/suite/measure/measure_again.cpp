// A cell's rows are replaced as a whole, since they were timed in turns. Peers are measured again
// only where cells are compared with them.
#include "src/suite/measure/measure_again.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "src/suite/report/random_summary.h"
#include "src/suite/results/compare.h"

namespace sinter::suite {
namespace {

constexpr int kRounds = 3;
constexpr int kOutlierRounds = 2;
// Regardless of the noise: a second measurement may be less noisy.
constexpr double kWorthALook = 1.08;

using Titles = std::set<std::string>;

// Titles where a provider looks slower, alone or with its case, or cannot be judged.
Titles suspicious(const Comparison& comparison) {
  const auto case_key = [](const auto& each) {
    return each.case_name + " " + each.dtype + " " + each.provider;
  };
  std::set<std::string> slow_cases;
  for (const CaseChange& each : comparison.cases)
    if (each.verdict == Verdict::slower) slow_cases.insert(case_key(each));
  Titles titles;
  for (const RowChange& row : comparison.rows)
    if (row.verdict == Verdict::slower || row.undecided || row.change > kWorthALook ||
        slow_cases.contains(case_key(row)))
      titles.insert(row.case_name + " " + row.shape + " " + row.dtype);
  return titles;
}

// Sinter's own rows of a title.
struct Cell {
  double limit_us = 0;   // 0: not measured
  double log_times = 0;  // sum over the fastest samples
  bool is_timed = false;
};

Cell cell_of(const Results& results, const std::string& title) {
  Cell cell;
  for (const ResultRow& row : results.rows) {
    if (row.title() != title || row.is_peers() || !row.timing) continue;
    cell.limit_us = row.limit_us.value_or(0);
    cell.log_times += std::log(row.timing->min_us);
    cell.is_timed = !row.failed();
  }
  return cell;
}

// Difference between its copy time and that in the older run.
double distance(const Cell& cell, const Cell& before) {
  if (cell.limit_us <= 0 || before.limit_us <= 0) return 0;
  const double change = std::abs(std::log(cell.limit_us / before.limit_us));
  return change < kSameLimit ? 0 : change;
}

bool is_better(const Cell& second, const Cell& first, const Cell& before) {
  if (!second.is_timed || !first.is_timed) return false;
  const double further = distance(second, before) - distance(first, before);
  return further < 0 || (further == 0 && second.log_times < first.log_times);
}

void take_over(Results& now, const Results& second, const std::string& title) {
  for (ResultRow& row : now.rows)
    for (const ResultRow& other : second.rows)
      if (row.title() == title && other.title() == title && row.provider == other.provider)
        row = other;
}

// Whether everything that was timed at first was timed again.
bool has_all_times(const Results& second, const Results& first, const std::string& title) {
  return std::all_of(first.rows.begin(), first.rows.end(), [&](const ResultRow& row) {
    if (row.title() != title || !row.timing) return true;
    return std::any_of(second.rows.begin(), second.rows.end(), [&](const ResultRow& other) {
      return other.title() == title && other.provider == row.provider && other.timing &&
             !other.failed();
    });
  });
}

// Compiling was measured in the first run; the second one found the kernels on disk.
void keep_compile_times(const Results& first, Results& second) {
  for (ResultRow& row : second.rows)
    for (const ResultRow& other : first.rows)
      if (row.title() == other.title() && row.provider == other.provider && !row.is_peers()) {
        row.compile_ms = other.compile_ms;
        row.kernels_from_disk = other.kernels_from_disk;
      }
}

SuiteOptions options_again(const SuiteOptions& options, const Results& now) {
  SuiteOptions again = options;
  again.resumed.reset();
  again.random = now.random;  // with its limits: the same cells
  return again;
}

}  // namespace

void measure_again(const Results& before, const SuiteOptions& options,
                   const ProgressCallback& progress, Results& now) {
  SuiteOptions again = options_again(options, now);
  again.peers.clear();
  Titles measured;
  for (int round = 0; round < kRounds && !now.interrupted; ++round) {
    again.only = suspicious(compare(before, now));
    if (again.only.empty()) break;
    measured.insert(again.only.begin(), again.only.end());
    const Results second = run_suite(again, progress);
    now.interrupted = second.interrupted;
    for (const std::string& title : again.only)
      if (is_better(cell_of(second, title), cell_of(now, title), cell_of(before, title)))
        take_over(now, second, title);
  }
  if (!measured.empty())
    now.notes.push_back(fmt::format(
        "{} of the cases and shapes looked slower than before, or could not be judged, and were "
        "measured again",
        measured.size()));
}

void measure_outliers_again(const SuiteOptions& options, const ProgressCallback& progress,
                            Results& now) {
  SuiteOptions again = options_again(options, now);
  std::size_t measured = 0;
  Titles left = outlier_titles(now);
  for (int round = 0; round < kOutlierRounds && !now.interrupted && !left.empty(); ++round) {
    measured = std::max(measured, left.size());
    again.only = left;
    Results second = run_suite(again, progress);
    now.interrupted = second.interrupted;
    keep_compile_times(now, second);
    for (const std::string& title : again.only)
      if (has_all_times(second, now, title)) take_over(now, second, title);
    left = outlier_titles(now);
  }
  if (measured > 0)
    now.notes.push_back(fmt::format(
        "{} of the cells looked slower than the best peer or far from the copy and were "
        "measured again; {} still do",
        measured, left.size()));
}

}  // namespace sinter::suite
