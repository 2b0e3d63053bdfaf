// Compares two runs: what got slower beyond the noise. docs/MEASURING.md explains how the noise is
// estimated. In: an older and a newer run. Out: a verdict for each row, and for each case over all
// its shapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/suite/results/results.h"

namespace sinter::suite {

enum class Verdict : std::uint8_t { same, slower, faster };
std::string_view name_of(Verdict verdict);

// If the log of a copy's time changed by less, the machine counts as unchanged.
inline constexpr double kSameLimit = 0.1;

struct RowChange {
  std::string case_name;
  std::string shape;
  std::string dtype;
  std::string provider;
  double old_us = 0;
  double new_us = 0;
  double change = 1;  // new / old, as far as the fastest time and the relative time agree
  double noise = 0;   // changes below 1 + noise mean nothing
  Verdict verdict = Verdict::same;
  bool undecided = false;  // they disagree and the copy changed too: practically another machine
};

// A case over all its shapes: single rows may be hidden by noise, their median less so.
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
  std::vector<RowChange> rows;     // present in both runs
  std::vector<CaseChange> cases;   // with three rows or more
  std::vector<std::string> notes;  // different machines, rows missing from one run
  double noise = 0;                // of a row between these runs, one standard deviation

  std::size_t failed_now = 0;  // rows that worked before

  bool is_worse() const;  // something is slower or newly failing
};

Comparison compare(const Results& before, const Results& now);

}  // namespace sinter::suite
