// Why a fused row is far from its limit, judging by its numbers and its plan: a guess with
// evidence, never derived from a case's name or particular sizes. In: Results. Out: for each row
// that is not near the copy, the probable causes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/suite/results/results.h"

namespace sinter::suite {

struct Cause {
  std::string kind;  // "math", "latency", "reductions", ...: for grouping
  std::string text;  // a sentence with numbers
};

struct FarRow {
  std::string case_name;
  std::string shape;
  std::string dtype;
  double ratio = 0;           // its time / the copy's
  std::vector<Cause> causes;  // most likely first; at least one
};

std::vector<FarRow> far_rows(const Results& results);

nlohmann::ordered_json to_json(const std::vector<FarRow>& rows);

}  // namespace sinter::suite
