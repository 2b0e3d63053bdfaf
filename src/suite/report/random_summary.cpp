// Groups rows by cell; fused rows are compared with the peers' rows and the limit of their cell.
#include "src/suite/report/random_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/suite/measure/runner.h"
#include "src/suite/report/rules.h"

namespace sinter::suite {
namespace {

using Json = nlohmann::ordered_json;

// The rows of one cell.
struct CellRows {
  const ResultRow* fused = nullptr;
  std::vector<const ResultRow*> peers;
};

std::vector<CellRows> cells_of(const Results& results) {
  std::vector<CellRows> cells;
  std::map<std::string, std::size_t> at;
  for (const ResultRow& row : results.rows) {
    const auto [it, is_new] = at.try_emplace(row.title(), cells.size());
    if (is_new) cells.emplace_back();
    CellRows& cell = cells[it->second];
    if (row.provider == "fused") cell.fused = &row;
    if (row.is_peers()) cell.peers.push_back(&row);
  }
  return cells;
}

bool is_measured(const ResultRow& row) {
  return !row.failed() && row.skipped.empty() && row.timing && row.timing->median_us > 0;
}

std::optional<double> gain_of(const CellRows& cell) {
  std::optional<double> best;
  for (const ResultRow* row : cell.peers)
    if (is_measured(*row)) best = std::min(best.value_or(1e300), steady_us(*row->timing));
  if (!best) return std::nullopt;
  return *best / cell.fused->timing->median_us;
}

// Providers are called "torch_eager" and "torch_compile".
std::string peer_of(const std::string& provider) { return provider.substr(0, provider.find('_')); }

std::string command_of(const Results& results, const CellRows& cell) {
  const ResultRow& row = *cell.fused;
  std::string command = fmt::format("sinter suite --cases {} --shapes {} --dtype {}", row.case_name,
                                    row.shape, row.dtype);
  if (results.device != "cpu") command += " --device " + results.device;
  if (!cell.peers.empty()) command += " --peers " + peer_of(cell.peers.front()->provider);
  if (results.seconds != SuiteOptions().seconds)
    command += fmt::format(" --seconds {}", results.seconds);
  return command;
}

RatedCell rated(const Results& results, const CellRows& cell) {
  const ResultRow& row = *cell.fused;
  RatedCell rated;
  rated.title = row.title();
  rated.gain = gain_of(cell);
  rated.is_large = is_large(row);
  rated.command = command_of(results, cell);
  if (rated.gain) rated.excess = 1 / (*rated.gain * rules().noise);
  if (row.limit_ratio) {
    const NearCopy& rule = near_copy_rule(results);
    rated.ratio = row.limit_ratio->median;
    rated.excess =
        std::max(rated.excess, *rated.ratio / (rated.is_large ? rule.large : rule.small));
  }
  return rated;
}

void count(Share& share, const RatedCell& cell, double value, bool is_good, bool is_worse) {
  ++share.of;
  share.count += is_good;
  if (!share.worst.empty() && !is_worse) return;
  share.worst = cell.title;
  share.worst_value = value;
}

void count(RandomSummary& summary, const RatedCell& cell, const NearCopy& rule) {
  if (cell.gain) {
    Share& share = summary.not_slower;
    count(share, cell, *cell.gain, *cell.gain * rules().noise >= 1, *cell.gain < share.worst_value);
  }
  if (cell.ratio) {
    Share& share = cell.is_large ? summary.near_large : summary.near_small;
    count(share, cell, *cell.ratio, *cell.ratio <= (cell.is_large ? rule.large : rule.small),
          *cell.ratio > share.worst_value);
  }
}

Json to_json(const Share& share) {
  if (share.of == 0) return nullptr;
  return {{"count", share.count},
          {"of", share.of},
          {"worst", share.worst},
          {"worst_value", share.worst_value}};
}

Json to_json(const RatedCell& cell) {
  return {{"cell", cell.title},
          {"gain", cell.gain ? Json(*cell.gain) : Json(nullptr)},
          {"limit_ratio", cell.ratio ? Json(*cell.ratio) : Json(nullptr)},
          {"command", cell.command}};
}

}  // namespace

std::vector<RatedCell> rate_cells(const Results& results) {
  std::vector<RatedCell> cells;
  for (const CellRows& cell : cells_of(results))
    if (cell.fused && is_measured(*cell.fused)) cells.push_back(rated(results, cell));
  return cells;
}

std::set<std::string> outlier_titles(const Results& results) {
  std::set<std::string> titles;
  for (const RatedCell& cell : rate_cells(results))
    if (cell.is_outlier()) titles.insert(cell.title);
  return titles;
}

std::optional<RandomSummary> random_summary(const Results& results) {
  if (!results.random) return std::nullopt;
  RandomSummary summary;
  summary.set = *results.random;
  for (const ResultRow& row : results.rows) {
    if (row.provider != "fused") continue;
    summary.failed += row.failed();
    summary.skipped += !row.failed() && !row.skipped.empty();
  }
  for (const RatedCell& cell : rate_cells(results)) {
    ++summary.measured;
    count(summary, cell, near_copy_rule(results));
    if (cell.is_outlier()) summary.outliers.push_back(cell);
  }
  std::stable_sort(summary.outliers.begin(), summary.outliers.end(),
                   [](const RatedCell& a, const RatedCell& b) { return a.excess > b.excess; });
  return summary;
}

Json to_json(const std::optional<RandomSummary>& summary) {
  if (!summary) return nullptr;
  Json outliers = Json::array();
  for (const RatedCell& cell : summary->outliers) outliers.push_back(to_json(cell));
  return {{"seed", summary->set.seed},
          {"cells", summary->set.cells},
          {"measured", summary->measured},
          {"failed", summary->failed},
          {"skipped", summary->skipped},
          {"not_slower", to_json(summary->not_slower)},
          {"near_copy_large", to_json(summary->near_large)},
          {"near_copy", to_json(summary->near_small)},
          {"outliers", std::move(outliers)}};
}

}  // namespace sinter::suite
