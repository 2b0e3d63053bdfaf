// Rows of different machines or builds must not be mixed in one file.
#include "src/suite/results/resume.h"

#include <algorithm>
#include <map>

#include "src/base/check.h"

namespace sinter::suite {
namespace {

void check_same(const char* what, const std::string& before, const std::string& now) {
  if (before != now)
    fail_user("suite",
              "the run to be resumed had another {}: '{}', now '{}'; start a new one without "
              "--resume",
              what, before, now);
}

}  // namespace

Results continued(const Results& fresh, const Results& stopped) {
  check_same("device", stopped.device, fresh.device);
  check_same("machine", stopped.description, fresh.description);
  check_same("version of Sinter", stopped.version, fresh.version);
  check_same("commit", stopped.commit.value_or("unknown"), fresh.commit.value_or("unknown"));
  check_same("time for each case", fmt::format("{} s", stopped.seconds),
             fmt::format("{} s", fresh.seconds));
  check_same("random set", describe(stopped.random ? &*stopped.random : nullptr),
             describe(fresh.random ? &*fresh.random : nullptr));
  for (const auto& [name, version] : stopped.versions)
    if (fresh.versions.contains(name)) check_same(name.c_str(), version, fresh.versions.at(name));
  Results results = stopped;
  results.versions.insert(fresh.versions.begin(), fresh.versions.end());  // a peer may be new
  results.random = fresh.random;                                          // may have more cells
  std::erase_if(results.rows, [](const ResultRow& row) { return row.failed(); });
  return results;
}

std::set<std::string> finished(const std::vector<ResultRow>& rows,
                               const std::vector<std::string>& providers) {
  std::map<std::string, std::set<std::string>> present;
  for (const ResultRow& row : rows) present[row.title()].insert(row.provider);
  std::set<std::string> all;
  for (const auto& [title, names] : present)
    if (std::all_of(providers.begin(), providers.end(),
                    [&names = names](const std::string& name) { return names.contains(name); }))
      all.insert(title);
  return all;
}

void drop_errors(std::vector<ResultRow>& rows, std::size_t from) {
  rows.erase(std::remove_if(rows.begin() + static_cast<std::ptrdiff_t>(from), rows.end(),
                            [](const ResultRow& row) { return !row.error.empty(); }),
             rows.end());
}

void drop_title(std::vector<ResultRow>& rows, const std::string& title) {
  std::erase_if(rows, [&](const ResultRow& row) { return row.title() == title; });
}

}  // namespace sinter::suite
