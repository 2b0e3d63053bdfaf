// Fills the template in: {{data}}, {{compared}}, {{chart.js}}, else a file of src/suite/report/.
#include "src/suite/report.h"

#include <filesystem>
#include <string_view>

#include "src/base/check.h"
#include "src/profile/assets.h"
#include "src/suite/atomic_file.h"
#include "src/suite/report_assets.h"

namespace sinter::suite {
namespace {

// JSON as a script element may hold it. In JSON a '<' stands within strings only, and an escape for
// it means the same: neither "</script>" nor "<!--" can be formed.
std::string script_safe(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char each : json) {
    if (each == '<')
      text += "\\u003c";
    else
      text += each;
  }
  return text;
}

std::string filling(std::string_view name, const Results& results, const Results* compared_with) {
  if (name == "data") return script_safe(to_json(results));
  if (name == "compared") return compared_with ? script_safe(to_json(*compared_with)) : "null";
  if (name == "chart.js") return std::string(chart_library());
  const std::string_view file = report_asset(name);
  SINTER_ASSERT(!file.empty(), "report.html names {}, which is not embedded", name);
  return std::string(file);
}

}  // namespace

std::string report_html(const Results& results, const Results* compared_with) {
  std::string_view rest = report_asset("report.html");
  std::string page;
  // One pass over the template: what is filled in is never looked at again.
  for (;;) {
    const std::size_t open = rest.find("{{");
    page += rest.substr(0, open);
    if (open == std::string_view::npos) return page;
    const std::size_t close = rest.find("}}", open);
    SINTER_ASSERT(close != std::string_view::npos, "report.html has a {{{{ without its }}}}");
    page += filling(rest.substr(open + 2, close - open - 2), results, compared_with);
    rest.remove_prefix(close + 2);
  }
}

std::string write_report(const std::string& directory, const Results& results) {
  make_directory(directory);
  std::string path = (std::filesystem::path(directory) / "report.html").string();
  write_file_atomically(path, report_html(results));
  return path;
}

}  // namespace sinter::suite
