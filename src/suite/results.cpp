// The JSON keeps the order of the fields as DESIGN lists them.
#include "src/suite/results.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/base/check.h"
#include "src/suite/case.h"

namespace sinter::suite {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Three digits after the point are a nanosecond: more is noise.
Json rounded(std::optional<double> value) {
  if (!value) return nullptr;
  return std::round(*value * 1e3) / 1e3;
}

Json row_json(const ResultRow& row) {
  const auto time = [&](double Timing::*field) {
    return row.timing ? rounded(*row.timing.*field) : Json(nullptr);
  };
  Json json{{"case", row.case_name},
            {"shape", row.shape},
            {"dtype", row.dtype},
            {"device", row.device},
            {"provider", row.provider},
            {"median_us", time(&Timing::median_us)},
            {"p20_us", time(&Timing::p20_us)},
            {"p80_us", time(&Timing::p80_us)},
            {"samples", row.timing ? Json(row.timing->samples) : Json(nullptr)},
            {"limit_us", rounded(row.limit_us)},
            {"call_us", rounded(row.call_us)},
            {"bytes_min", row.bytes_min},
            {"bytes_planned", or_null(row.bytes_planned)},
            {"bytes_measured", or_null(row.bytes_measured)},
            {"buffer_bytes", or_null(row.buffer_bytes)},
            {"compile_ms", rounded(row.compile_ms)},
            {"kernels_from_disk", or_null(row.kernels_from_disk)},
            {"kernels", or_null(row.kernels)},
            {"max_abs_err", or_null(row.max_abs_err)},
            {"max_rel_err", or_null(row.max_rel_err)},
            {"tolerance", or_null(row.tolerance)},
            {"checked_elements", or_null(row.checked_elements)},
            {"flops", row.flops},
            {"instructions", or_null(row.instructions)},
            {"peak_bytes", or_null(row.peak_bytes)}};
  if (!row.error.empty()) json["error"] = row.error;
  json["reasons"] = row.reasons;
  return json;
}

// Quoted where it has to be, with quotes doubled; nothing for null.
std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '"');
  return fmt::format("\"{}\"", text);
}

void write_file(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.tmp-{}", path, getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (file && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int code = errno;
  std::remove(temporary.c_str());
  fail_user("suite", "cannot write {}: {}", path, std::strerror(code));
}

}  // namespace

std::string to_json(const Results& results) {
  Json not_run = Json::array();
  for (const PendingCase& each : pending_cases())
    not_run.push_back({{"case", each.name}, {"reason", each.reason}});
  Json json;
  json["meta"] = {{"date", results.date},
                  {"device", results.device},
                  {"description", results.description},
                  {"commit", or_null(results.commit)},
                  {"command_line", results.command_line},
                  {"version", results.version},
                  {"copy_bytes_per_s", std::round(results.copy_bytes_per_s)},
                  {"interrupted", results.interrupted},
                  {"not_run", not_run}};
  json["rows"] = Json::array();
  for (const ResultRow& row : results.rows) json["rows"].push_back(row_json(row));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_csv(const Results& results) {
  std::string text;
  for (const ResultRow& row : results.rows) {
    Json json = row_json(row);
    json.erase("reasons");
    json["error"] = row.error;
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const auto& [name, value] : json.items()) {
      names.push_back(name);
      values.push_back(csv_cell(value));
    }
    if (text.empty()) text = fmt::format("{}\n", fmt::join(names, ","));
    text += fmt::format("{}\n", fmt::join(values, ","));
  }
  return text;
}

std::string write_results(const std::string& directory, const Results& results) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!fs::is_directory(directory))
    fail_user("suite", "cannot make the directory {}: {}", directory, error.message());
  std::string path = (fs::path(directory) / "results.json").string();
  write_file(path, to_json(results));
  write_file((fs::path(directory) / "results.csv").string(), to_csv(results));
  return path;
}

}  // namespace sinter::suite
