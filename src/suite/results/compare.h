// Two runs against each other: what got slower, beyond what noise explains. docs/MEASURING.md says
// how the noise is found.
// In: an older and a newer run. Out: a verdict for each row, and for each case over all its shapes.
#pragma once

#include <string>
#include <vector>

#include "src/suite/measure/runner.h"

namespace sinter::suite {

enum class Verdict : std::uint8_t { same, slower, faster };
std::string_view name_of(Verdict verdict);

// A copy whose time changed by less, as a logarithm: the machine is the same.
inline constexpr double kSameLimit = 0.1;

struct RowChange {
  std::string case_name;
  std::string shape;
  std::string dtype;
  std::string provider;
  double old_us = 0;
  double new_us = 0;
  double change = 1;  // new over old, as far as the fastest time and the time in limits agree
  double noise = 0;   // a change of less than 1 + noise means nothing
  Verdict verdict = Verdict::same;
  bool undecided = false;  // they do not agree, and the copy changed too: another machine, almost
};

// A case over all its shapes: single rows may hide in the noise, their median less so.
struct CaseChange {
  std::string case_name;
  std::string dtype;
  std::string provider;
  int rows = 0;
  double change = 1;  // median
  double noise = 0;
  Verdict verdict = Verdict::same;
};

struct Comparison {
  std::vector<RowChange> rows;     // those that both runs have
  std::vector<CaseChange> cases;   // of three rows or more
  std::vector<std::string> notes;  // other machines, rows that one run lacks
  double noise = 0;                // of a row between these two runs, one standard deviation

  std::size_t failed_now = 0;  // rows that worked before

  bool is_worse() const;  // anything is slower, or failed now
};

Comparison compare(const Results& before, const Results& now);

// Measures what looks slower or is undecided again, a few times, and keeps the rows that were taken
// on a machine more like the older run's, or the faster ones: a disturbance hardly comes twice at
// the same place. `options` are those of the run. Leaves a note in `now`.
void measure_again(const Results& before, const SuiteOptions& options,
                   const ProgressCallback& progress, Results& now);

}  // namespace sinter::suite
