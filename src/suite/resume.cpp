// Rows of different machines or builds must not stand in one file.
#include "src/suite/resume.h"

#include <algorithm>
#include <map>

#include "src/base/check.h"

namespace sinter::suite {
namespace {

std::string title_of(const ResultRow& row) {
  return fmt::format("{} {} {}", row.case_name, row.shape, row.dtype);
}

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
  Results results = stopped;
  results.interrupted = false;
  drop_errors(results.rows, 0);
  return results;
}

std::set<std::string> finished(const std::vector<ResultRow>& rows,
                               const std::vector<std::string>& providers) {
  std::map<std::string, std::set<std::string>> providers_of;
  for (const ResultRow& row : rows) providers_of[title_of(row)].insert(row.provider);
  std::set<std::string> all;
  for (const auto& [title, present] : providers_of)
    if (std::all_of(providers.begin(), providers.end(),
                    [&](const std::string& name) { return present.contains(name); }))
      all.insert(title);
  return all;
}

void drop_errors(std::vector<ResultRow>& rows, std::size_t from) {
  rows.erase(std::remove_if(rows.begin() + static_cast<std::ptrdiff_t>(from), rows.end(),
                            [](const ResultRow& row) { return !row.error.empty(); }),
             rows.end());
}

void drop_title(std::vector<ResultRow>& rows, const std::string& title) {
  std::erase_if(rows, [&](const ResultRow& row) { return title_of(row) == title; });
}

}  // namespace sinter::suite
