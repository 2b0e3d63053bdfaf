// Reads and writes a run's files. In: Results. Out: results.json and results.csv, and back.
#include "src/suite/results/results.h"

#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/base/atomic_file.h"
#include "src/base/check.h"
#include "src/base/csv.h"
#include "src/suite/results/results_json.h"

namespace sinter::suite {
namespace {

using Json = nlohmann::ordered_json;

// Empty for null.
std::string cell_of(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? csv_cell(value.get<std::string>()) : value.dump();
}

}  // namespace

std::string to_csv(const Results& results) {
  std::string text;
  for (const ResultRow& row : results.rows) {
    Json json = row_to_json(row);
    for (const char* field : {"reasons", "tiles", "error", "skipped"}) json.erase(field);
    json["error"] = row.error;
    json["skipped"] = row.skipped;
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const auto& [name, value] : json.items()) {
      names.push_back(name);
      values.push_back(cell_of(value));
    }
    if (text.empty()) text = fmt::format("{}\n", fmt::join(names, ","));
    text += fmt::format("{}\n", fmt::join(values, ","));
  }
  return text;
}

std::string write_results(const std::string& directory, const Results& results) {
  make_directory("suite", directory);
  const std::filesystem::path folder(directory);
  std::string path = (folder / "results.json").string();
  write_file_atomically("suite", path, to_json(results));
  write_file_atomically("suite", (folder / "results.csv").string(), to_csv(results));
  return path;
}

Results read_results(const std::string& path, std::string_view op) {
  if (std::filesystem::is_directory(path))
    return read_results((std::filesystem::path(path) / "results.json").string(), op);
  const std::ifstream file(path, std::ios::binary);
  if (!file)
    fail_user(op,
              "cannot read {}: {}; expected a results.json that sinter suite wrote, or its folder",
              path, std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return from_json(text.str(), path, op);
}

}  // namespace sinter::suite
