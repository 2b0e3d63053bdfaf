// Fills in the template: {{data}}, {{far}}, {{random}}, {{compared}}, {{comparison}}, {{chart.js}};
// other names are files of src/suite/report/page/.
#include "src/suite/report/report.h"

#include <filesystem>
#include <string_view>

#include "src/base/atomic_file.h"
#include "src/base/check.h"
#include "src/profile/assets.h"
#include "src/profile/page.h"
#include "src/suite/report/causes.h"
#include "src/suite/report/random_summary.h"
#include "src/suite/report/report_assets.h"
#include "src/suite/results/compare_json.h"

namespace sinter::suite {
namespace {

std::string filling(std::string_view name, const Results& results, const Results* compared_with) {
  constexpr int kCompact = -1;
  if (name == "data") return script_safe(to_json(results, kCompact));
  if (name == "far") return script_safe(to_json(far_rows(results)).dump());
  if (name == "random") return script_safe(to_json(random_summary(results)).dump());
  if (name == "compared")
    return compared_with ? script_safe(to_json(*compared_with, kCompact)) : "null";
  if (name == "comparison")
    return compared_with ? script_safe(to_json(compare(*compared_with, results)).dump()) : "null";
  if (name == "chart.js") return std::string(chart_library());
  const std::string_view file = report_asset(name);
  SINTER_ASSERT(!file.empty(), "report.html names {}, which is not embedded", name);
  return std::string(file);
}

}  // namespace

std::string report_html(const Results& results, const Results* compared_with) {
  return fill_page(report_asset("report.html"),
                   [&](std::string_view name) { return filling(name, results, compared_with); });
}

std::string write_report(const std::string& directory, const Results& results,
                         const Results* compared_with) {
  make_directory("report", directory);
  std::string path = (std::filesystem::path(directory) / "report.html").string();
  write_file_atomically("report", path, report_html(results, compared_with));
  return path;
}

}  // namespace sinter::suite
