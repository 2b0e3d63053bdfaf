// Why a fused row is far from its limit, as far as its numbers and its plan tell: a guess with its
// grounds, never derived from a case's name or from particular sizes.
// In: Results. Out: for each row that is not near the copy, what probably holds it back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/suite/results/results.h"

namespace sinter::suite {

struct Cause {
  std::string kind;  // "math", "latency", "reductions", ...: a word or two to group by
  std::string text;  // a sentence with its numbers
};

struct FarRow {
  std::string case_name;
  std::string shape;
  std::string dtype;
  double ratio = 0;           // its time in units of the copy's
  std::vector<Cause> causes;  // the likeliest first; at least one
};

std::vector<FarRow> far_rows(const Results& results);

nlohmann::ordered_json to_json(const std::vector<FarRow>& rows);

}  // namespace sinter::suite
