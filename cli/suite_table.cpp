// Groups the rows of the providers by cell.
#include "cli/suite_table.h"

#include <fmt/ranges.h>

#include <map>
#include <set>

#include "cli/table.h"
#include "src/base/printable.h"
#include "src/suite/report/causes.h"

namespace sinter::cli {
namespace {

using suite::ResultRow;

struct Pair {
  const ResultRow* fused = nullptr;
  const ResultRow* eager = nullptr;
  std::map<std::string, const ResultRow*> peers;  // by provider
  const ResultRow& any() const {
    if (fused || eager) return fused ? *fused : *eager;
    return *peers.begin()->second;
  }
};

// In measuring order.
std::vector<Pair> pairs_of(const suite::Results& results) {
  std::vector<Pair> pairs;
  std::map<std::string, std::size_t> at;
  for (const ResultRow& row : results.rows) {
    const auto [it, fresh] = at.try_emplace(row.title(), pairs.size());
    if (fresh) pairs.emplace_back();
    Pair& pair = pairs[it->second];
    if (row.provider == "fused")
      pair.fused = &row;
    else if (row.provider == "eager")
      pair.eager = &row;
    else
      pair.peers[row.provider] = &row;
  }
  return pairs;
}

std::string us_text(const ResultRow* row) {
  if (!row) return "";
  if (!row->error.empty()) return "error";
  if (!row->skipped.empty()) return "skipped";
  if (!row->timing) return "-";
  const double us = row->timing->median_us;
  return us < 100 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

std::optional<double> median(const ResultRow* row) {
  if (!row || !row->timing) return std::nullopt;
  return row->timing->median_us;
}

Cell speed_up(const Pair& pair) {
  const auto fused = median(pair.fused);
  const auto eager = median(pair.eager);
  if (!fused || !eager) return {"-"};
  const double ratio = *eager / *fused;
  return {fmt::format("{:.2f}x", ratio), ratio >= 1 ? Colour::green : Colour::red};
}

Cell times_limit(const Pair& pair) {
  const ResultRow& row = pair.any();
  if (!row.limit_ratio) return {"-"};
  const double ratio = row.limit_ratio->median;
  return {fmt::format("{:.2f}", ratio), ratio > 2 ? Colour::yellow : Colour::none};
}

Cell limit_cell(const Pair& pair) {
  const ResultRow& row = pair.any();
  if (!row.limit_us) return {"-"};
  return {fmt::format("{:.{}f}", *row.limit_us, *row.limit_us < 100 ? 1 : 0)};
}

Cell error_cell(const Pair& pair) {
  const ResultRow& row = pair.any();
  if (!row.max_rel_err) return {"-"};
  return {fmt::format("{:.0e}", printable(*row.max_rel_err)),
          row.is_wrong() ? Colour::red : Colour::none};
}

}  // namespace

std::string suite_table(const suite::Results& results) {
  const std::vector<Pair> pairs = pairs_of(results);
  std::set<std::string> dtypes;
  std::set<std::string> peers;
  for (const ResultRow& row : results.rows) dtypes.insert(row.dtype);
  for (const Pair& pair : pairs)
    for (const auto& peer : pair.peers) peers.insert(peer.first);
  std::vector<Column> columns{{"case", true}, {"shape", true}};
  if (dtypes.size() > 1) columns.push_back({"type", true});
  for (const char* title :
       {"fused us", "eager us", "speed-up", "limit us", "x limit", "kernels", "rel err"})
    columns.push_back({title});
  for (const std::string& peer : peers) columns.push_back({peer + " us"});
  std::vector<std::vector<Cell>> rows;
  for (const Pair& pair : pairs) {
    const ResultRow& any = pair.any();
    std::vector<Cell> row{{any.case_name}, {any.shape}};
    if (dtypes.size() > 1) row.push_back({any.dtype});
    row.push_back({us_text(pair.fused)});
    row.push_back({us_text(pair.eager)});
    row.push_back(speed_up(pair));
    row.push_back(limit_cell(pair));
    row.push_back(times_limit(pair));
    row.push_back({any.kernels ? std::to_string(*any.kernels) : "-"});
    row.push_back(error_cell(pair));
    for (const std::string& peer : peers)
      row.push_back({us_text(pair.peers.contains(peer) ? pair.peers.at(peer) : nullptr)});
    rows.push_back(std::move(row));
  }
  return table_text(columns, rows, stdout);
}

std::string suite_failures(const suite::Results& results) {
  std::string text;
  for (const ResultRow& row : results.rows) {
    const std::string name =
        fmt::format("{} {} {} {}", row.case_name, row.shape, row.dtype, row.provider);
    if (!row.error.empty())
      text += fmt::format("{}: {}\n", name, row.error);
    else if (row.is_wrong())
      text += fmt::format("{}: wrong result, relative error {:.2e} is above {:.2e}\n", name,
                          printable(*row.max_rel_err), printable(*row.tolerance));
  }
  return text;
}

std::string far_text(const suite::Results& results) {
  const std::vector<suite::FarRow> rows = suite::far_rows(results);
  if (rows.empty()) return "";
  std::map<std::string, int> counts;
  for (const suite::FarRow& row : rows) ++counts[row.causes.front().kind];
  std::vector<std::string> kinds;
  for (const auto& [kind, count] : counts) kinds.push_back(fmt::format("{} {}", kind, count));
  return fmt::format(
      "{} fused row{} far from the limit, by probable cause: {}; the report says why\n",
      rows.size(), rows.size() == 1 ? " is" : "s are", fmt::join(kinds, ", "));
}

}  // namespace sinter::cli
