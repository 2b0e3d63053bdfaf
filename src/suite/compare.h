// Two runs against each other: what got slower, beyond what noise explains. docs/MEASURING.md says
// how the noise is found.
// In: an older and a newer run. Out: a verdict for each row, and for each case over all its shapes.
#pragma once

#include <string>
#include <vector>

#include "src/suite/runner.h"

namespace sinter::suite {

enum class Verdict : std::uint8_t { same, slower, faster };
std::string_view name_of(Verdict verdict);

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

// A case over all its shapes: single rows may hide in the noise, their mean less so.
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

  bool any_slower() const;
};

Comparison compare(const Results& before, const Results& now);

// Measures what looks slower or is undecided again, a few times, and keeps the time that was taken
// on a machine more like the older run's, or the faster one: a disturbance hardly comes twice at
// the same place. `options` are those of the run; returns how many rows it measured.
std::size_t measure_again(Results before, const SuiteOptions& options,
                          const ProgressCallback& progress, Results& now);

}  // namespace sinter::suite
