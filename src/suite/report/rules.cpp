// Reads the embedded file once.
#include "src/suite/report/rules.h"

#include <nlohmann/json.hpp>

#include "src/suite/report/report_assets.h"

namespace sinter::suite {
namespace {

Rules read_rules() {
  const auto json = nlohmann::json::parse(report_asset("rules.json"));
  Rules rules;
  rules.noise = json.at("noise");
  rules.far_apart = json.at("far_apart");
  rules.large_bytes = json.at("large_bytes");
  rules.near_copy = {json.at("near_copy_large"), json.at("near_copy")};
  rules.near_copy_random = {json.at("near_copy_large_random"), json.at("near_copy_random")};
  return rules;
}

}  // namespace

const Rules& rules() {
  static const Rules all = read_rules();
  return all;
}

const NearCopy& near_copy_rule(const Results& results) {
  return results.random ? rules().near_copy_random : rules().near_copy;
}

bool is_large(const ResultRow& row) {
  return static_cast<double>(row.bytes_min) >= rules().large_bytes;
}

bool is_near_copy(const ResultRow& row, const NearCopy& rule) {
  if (!row.limit_ratio) return false;
  return row.limit_ratio->median <= (is_large(row) ? rule.large : rule.small);
}

double steady_us(const BenchResult& timing) {
  const bool is_disturbed = timing.p20_us > 0 && timing.p80_us > rules().far_apart * timing.p20_us;
  return is_disturbed ? timing.p20_us : timing.median_us;
}

}  // namespace sinter::suite
