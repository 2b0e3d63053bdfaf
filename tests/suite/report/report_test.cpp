// report_html: complete, self-contained, and safe against its data.
#include "src/suite/report/report.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "src/profile/assets.h"
#include "src/suite/report/report_assets.h"

namespace sinter::suite {
namespace {

namespace fs = std::filesystem;

std::string file_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Results small_results() {
  Results results;
  results.date = "2026-11-15T10:20:30Z";
  results.command_line = "sinter suite";
  ResultRow row;
  row.case_name = "softmax";
  row.shape = "128x128";
  row.provider = "fused";
  results.rows.push_back(row);
  return results;
}

// The text inside <script ... id="ID">.
std::string script_text(const std::string& page, const std::string& id) {
  const std::string tag = "id=\"" + id + "\">";
  const std::size_t begin = page.find(tag) + tag.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

TEST(Report, HoldsTheResultsAsTheyAre) {
  const Results results = small_results();
  const std::string page = report_html(results);
  EXPECT_EQ(nlohmann::json::parse(script_text(page, "data")),
            nlohmann::json::parse(to_json(results)));
  EXPECT_EQ(script_text(page, "compared"), "null");
  const std::string compared = report_html(results, &results);
  EXPECT_EQ(script_text(compared, "compared"), script_text(compared, "data"));
}

TEST(Report, HoldsTheCountsOfTheRandomSet) {
  Results results = small_results();
  EXPECT_EQ(script_text(report_html(results), "random"), "null");
  results.random = RandomSet{7, 1, {"softmax"}, {"f32"}, 1 << 26, 1 << 30};
  const auto random = nlohmann::json::parse(script_text(report_html(results), "random"));
  EXPECT_EQ(random["seed"], 7);
  EXPECT_EQ(random["measured"], 0);
  EXPECT_TRUE(random["outliers"].empty());
}

TEST(Report, DataCannotLeaveItsElement) {
  const std::string hostile = "</script><script>alert(1)</script> <!-- {{report.css}} ]]>";
  Results results = small_results();
  const std::string calm = report_html(results);
  results.notes.push_back(hostile);
  results.rows[0].error = hostile;
  results.rows[0].reasons[hostile] = hostile;
  results.description = hostile;
  const std::string page = report_html(results);
  for (const char* part : {"<script", "</script", "<!--", "font-variant-numeric"})
    EXPECT_EQ(count(page, part), count(calm, part)) << part;
  EXPECT_EQ(nlohmann::json::parse(script_text(page, "data"))["meta"]["notes"][0], hostile);
}

TEST(Report, EveryAssetIsEmbeddedAndUsed) {
  const char* source = std::getenv("SINTER_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "SINTER_SOURCE_DIR is not set";
  const std::string page = report_html(small_results());
  for (const auto& entry : fs::directory_iterator(fs::path(source) / "src/suite/report/page")) {
    const std::string name = entry.path().filename().string();
    const std::string text = file_text(entry.path());
    EXPECT_TRUE(report_asset(name) == text) << name;
    if (name == "report.html") continue;
    EXPECT_NE(page.find(text), std::string::npos) << name;
    EXPECT_EQ(text.find("</script"), std::string::npos) << name << " would end its element";
  }
  EXPECT_NE(page.find(chart_library()), std::string::npos);
  EXPECT_EQ(chart_library().find("</script"), std::string::npos);
}

TEST(Report, LoadsNothing) {
  const std::string page = report_html(small_results());
  for (const char* part : {"src=\"", "<link", "@import", "url(http", "fetch("})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
}

TEST(Report, IsWrittenWhole) {
  const fs::path folder = fs::path(::testing::TempDir()) / "report_test";
  fs::remove_all(folder);
  const std::string path = write_report((folder / "new").string(), small_results());
  EXPECT_EQ(path, (folder / "new/report.html").string());
  EXPECT_TRUE(file_text(path) == report_html(small_results()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "new"), {}), 1) << "a file is left over";
  std::ofstream(folder / "file") << "x";
  EXPECT_THROW(write_report((folder / "file").string(), small_results()), UserError);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace sinter::suite
