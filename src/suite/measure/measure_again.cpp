// Suspicious cells are measured again without peers and replace the first run's rows as a whole,
// since rows of one case and shape were timed in turns.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "src/suite/results/compare.h"

namespace sinter::suite {
namespace {

constexpr int kRounds = 3;
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

}  // namespace

void measure_again(const Results& before, const SuiteOptions& options,
                   const ProgressCallback& progress, Results& now) {
  SuiteOptions again = options;
  again.resumed.reset();
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

}  // namespace sinter::suite
