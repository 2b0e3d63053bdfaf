// PerfReport as a table, CSV, JSON and an HTML page with a plot.
#include <fmt/format.h>
#include <sinter/bench.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/base/atomic_file.h"
#include "src/base/csv.h"
#include "src/base/printable.h"
#include "src/profile/assets.h"
#include "src/profile/page.h"

namespace sinter {
namespace {

using Json = nlohmann::ordered_json;

// The points all lines have: a report may be assembled by hand.
std::size_t points_of(const PerfReport& report) {
  if (report.lines.empty()) return 0;
  std::size_t count = report.lines.front().points.size();
  for (const PerfReport::Line& line : report.lines) count = std::min(count, line.points.size());
  return count;
}

std::string value_text(const PerfPoint& point) {
  if (!point.error.empty()) return "error";
  return fmt::format("{:.{}f}", printable(point.value), std::abs(point.value) < 10 ? 3 : 1);
}

// Right-aligned columns, each as wide as its widest cell.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c)
      text += fmt::format("{}{:>{}}", c ? "  " : "", row[c], widths[c]);
    text += "\n";
  }
  return text;
}

double rounded(double us) { return std::round(us * 1e3) / 1e3; }

// A file name for any title.
std::string file_name(const std::string& title) {
  std::string name = title.empty() || title.front() == '.' ? "_" : "";
  for (const char each : title)
    name +=
        std::isalnum(static_cast<unsigned char>(each)) || each == '-' || each == '.' ? each : '_';
  return name;
}

}  // namespace

std::string PerfReport::table() const {
  std::vector<std::vector<std::string>> rows{{x_name}};
  for (const Line& line : lines) rows[0].push_back(fmt::format("{} {}", line.name, unit));
  std::string errors;
  for (std::size_t i = 0; i < points_of(*this); ++i) {
    rows.push_back({std::to_string(lines.front().points[i].size)});
    for (const Line& line : lines) {
      const PerfPoint& point = line.points[i];
      rows.back().push_back(value_text(point));
      if (!point.error.empty())
        errors += fmt::format("{} at {}: {}\n", line.name, point.size, point.error);
    }
  }
  return aligned(rows) + errors;
}

std::string PerfReport::csv() const {
  std::string text = fmt::format("{},line,{},median_us,p20_us,p80_us,min_us,samples,error\n",
                                 csv_cell(x_name), csv_cell(unit));
  for (std::size_t i = 0; i < points_of(*this); ++i)
    for (const Line& line : lines) {
      const PerfPoint& point = line.points[i];
      const BenchResult& time = point.time;
      if (point.error.empty())
        text += fmt::format("{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{},\n", point.size,
                            csv_cell(line.name), printable(point.value), time.median_us,
                            time.p20_us, time.p80_us, time.min_us, time.samples);
      else
        text +=
            fmt::format("{},{},,,,,,,{}\n", point.size, csv_cell(line.name), csv_cell(point.error));
    }
  return text;
}

std::string PerfReport::json() const {
  Json json{{"title", title}, {"x_name", x_name}, {"unit", unit}, {"lines", Json::array()}};
  for (const Line& line : lines) {
    Json points = Json::array();
    for (const PerfPoint& point : line.points) {
      if (!point.error.empty()) {
        points.push_back({{"size", point.size}, {"error", point.error}});
        continue;
      }
      points.push_back({{"size", point.size},
                        {"value", point.value},
                        {"median_us", rounded(point.time.median_us)},
                        {"p20_us", rounded(point.time.p20_us)},
                        {"p80_us", rounded(point.time.p80_us)},
                        {"min_us", rounded(point.time.min_us)},
                        {"samples", point.time.samples}});
    }
    json["lines"].push_back({{"name", line.name}, {"points", points}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string PerfReport::html() const {
  return fill_page(asset("plot.html"), [&](std::string_view name) -> std::string {
    if (name == "title") return html_safe(title);
    if (name == "table") return html_safe(table());
    if (name == "data") return script_safe(json());
    return std::string(asset(name));
  });
}

void PerfReport::save(const std::string& directory) const {
  make_directory("perf_report", directory);
  const std::string path = (std::filesystem::path(directory) / file_name(title)).string();
  write_file_atomically("perf_report", path + ".csv", csv());
  write_file_atomically("perf_report", path + ".json", json());
  write_file_atomically("perf_report", path + ".html", html());
}

}  // namespace sinter
