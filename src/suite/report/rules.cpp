// Reads the embedded file once.
#include "src/suite/report/rules.h"

#include <nlohmann/json.hpp>

#include "src/suite/report/report_assets.h"

namespace sinter::suite {
namespace {

Rules read_rules() {
  const auto json = nlohmann::json::parse(report_asset("rules.json"));
  return {json.at("far_apart"), json.at("large_bytes"), json.at("near_copy_large"),
          json.at("near_copy")};
}

}  // namespace

const Rules& rules() {
  static const Rules all = read_rules();
  return all;
}

bool is_near_copy(const ResultRow& row) {
  if (!row.limit_ratio) return false;
  const bool is_large = static_cast<double>(row.bytes_min) >= rules().large_bytes;
  return row.limit_ratio->median <= (is_large ? rules().near_copy_large : rules().near_copy);
}

}  // namespace sinter::suite
