// What the random set says of a build: how many cells are not slower than the best peer, how many
// are near the copy, and which are worst. In: Results. Out: counts, and cells with a command each.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/suite/results/results.h"

namespace sinter::suite {

// A cell whose fused row was measured.
struct RatedCell {
  std::string title;            // "softmax 33x65 f16"
  std::optional<double> gain;   // best peer's time / fused time; nullopt: no peer was measured
  std::optional<double> ratio;  // fused time / the copy's
  bool is_large = false;        // as the rules define it
  double excess = 0;            // how far it is outside of the rules: 1.1 is 10%; up to 1: within
  std::string command;          // measures this cell alone

  bool is_outlier() const { return excess > 1; }
};

// In measuring order. For runs of any set.
std::vector<RatedCell> rate_cells(const Results& results);
// Titles of those outside of the rules.
std::set<std::string> outlier_titles(const Results& results);

struct Share {
  int count = 0;
  int of = 0;
  std::string worst;       // title; empty if there are no cells
  double worst_value = 0;  // its gain or ratio
};

struct RandomSummary {
  RandomSet set;
  int measured = 0;
  int failed = 0;    // fused rows with an error or a wrong result
  int skipped = 0;   // that did not fit
  Share not_slower;  // than the best peer
  Share near_large;  // near the copy, of large cells
  Share near_small;
  std::vector<RatedCell> outliers;  // furthest outside first
};

// Nullopt if the run is not of the random set.
std::optional<RandomSummary> random_summary(const Results& results);

nlohmann::ordered_json to_json(const std::optional<RandomSummary>& summary);  // null for nullopt

}  // namespace sinter::suite
