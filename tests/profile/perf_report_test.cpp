// perf_report: every size and line; data of a size is freed before the next; errors stay in their
// point; files are complete.
#include <gtest/gtest.h>
#include <sinter/bench.h>
#include <sinter/error.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "src/profile/page.h"

namespace sinter {
namespace {

namespace fs = std::filesystem;

PerfReportOptions quick() {
  PerfReportOptions options;
  options.title = "a / title";
  options.sizes = {1, 20, 300};
  options.bench.seconds = 1e-4;
  return options;
}

SizedRun spin(int factor) {
  return [factor](std::int64_t size) {
    return [n = size * factor] {
      for (std::int64_t i = 0; i < n; ++i) asm volatile("");  // not to be optimised away
    };
  };
}

TEST(PerfReport, HasAPointForEverySizeAndLine) {
  const std::vector<PerfLine> lines{{"one", spin(1)}, {"two", spin(2)}};
  PerfReportOptions options = quick();
  options.unit = "per us";
  options.value = [](std::int64_t size, double us) { return static_cast<double>(size) / us; };
  const PerfReport report = perf_report(lines, options);
  ASSERT_EQ(report.lines.size(), 2u);
  for (const PerfReport::Line& line : report.lines) {
    ASSERT_EQ(line.points.size(), 3u);
    for (const PerfPoint& point : line.points) {
      EXPECT_EQ(point.error, "");
      EXPECT_GE(point.time.samples, 5);
      EXPECT_DOUBLE_EQ(point.value, static_cast<double>(point.size) / point.time.median_us);
    }
  }
  EXPECT_NE(report.table().find("two per us"), std::string::npos) << report.table();
  EXPECT_EQ(nlohmann::json::parse(report.json())["lines"][1]["points"][2]["size"], 300);
}

TEST(PerfReport, FreesASizeBeforeTheNext) {
  int alive = 0;
  int most = 0;
  struct Counted {
    explicit Counted(int* counter) : counter_(counter) { ++*counter_; }
    ~Counted() { --*counter_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    int* counter_;
  };
  const SizedRun prepare = [&](std::int64_t) {
    auto held = std::make_shared<Counted>(&alive);
    most = std::max(most, alive);
    return [held] {};
  };
  const std::vector<PerfLine> lines{{"one", prepare}, {"two", prepare}};
  perf_report(lines, quick());
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(most, 2);
}

TEST(PerfReport, ErrorsStayInTheirPoint) {
  const SizedRun fails = [](std::int64_t size) -> std::function<void()> {
    if (size == 20) throw OutOfMemoryError("no room, \"really\"", "malloc", 12);
    if (size == 300) return [] { throw UserError("cannot run"); };
    return [] {};
  };
  const std::vector<PerfLine> lines{{"good", spin(1)}, {"bad", fails}};
  const PerfReport report = perf_report(lines, quick());
  EXPECT_EQ(report.lines[1].points[0].error, "");
  EXPECT_EQ(report.lines[1].points[1].error, "no room, \"really\"");
  EXPECT_EQ(report.lines[1].points[2].error, "cannot run");
  for (const PerfPoint& point : report.lines[0].points) EXPECT_EQ(point.error, "");
  EXPECT_NE(report.table().find("bad at 300: cannot run"), std::string::npos);
  EXPECT_NE(report.csv().find("\"no room, \"\"really\"\"\""), std::string::npos);
}

TEST(PerfReport, ANanHasNoSign) {
  PerfPoint point;
  point.size = 1;
  point.value = std::copysign(std::numeric_limits<double>::quiet_NaN(), -1.0);
  PerfReport report;
  report.lines = {{"line", {point}}};
  EXPECT_NE(report.table().find(" nan"), std::string::npos) << report.table();
  EXPECT_EQ(report.table().find("-nan"), std::string::npos) << report.table();
  EXPECT_NE(report.csv().find(",nan,"), std::string::npos) << report.csv();
}

TEST(PerfReport, StopsWhenToldTo) {
  const std::vector<PerfLine> lines{{"one", spin(1)}};
  PerfReportOptions options = quick();
  options.progress = [](std::size_t done, std::size_t total) {
    EXPECT_EQ(total, 3u);
    return done < 2;
  };
  EXPECT_EQ(perf_report(lines, options).lines[0].points.size(), 2u);
}

TEST(PerfReport, RefusesNothingToDo) {
  const std::vector<PerfLine> lines{{"one", spin(1)}};
  EXPECT_THROW(perf_report({}, quick()), UserError);
  EXPECT_THROW(perf_report(lines, {}), UserError);
  const std::vector<PerfLine> empty{{"one", nullptr}};
  EXPECT_THROW(perf_report(empty, quick()), UserError);
  PerfReportOptions wrong = quick();
  wrong.bench.seconds = -1;
  EXPECT_THROW(perf_report(lines, wrong), UserError);
}

TEST(PerfReport, SavesThreeFilesUnderASafeName) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("perf-" + std::to_string(getpid()));
  const std::vector<PerfLine> lines{{"</script><b>", spin(1)}};
  const PerfReport report = perf_report(lines, quick());
  report.save((folder / "deep").string());
  for (const char* name : {"a___title.csv", "a___title.json", "a___title.html"})
    EXPECT_TRUE(fs::exists(folder / "deep" / name)) << name;
  std::ifstream file(folder / "deep" / "a___title.html");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(page.find("<b>"), std::string::npos) << "a name must not become markup";
  EXPECT_EQ(page.find("{{"), std::string::npos);
  fs::remove_all(folder);
  EXPECT_THROW(report.save("/proc/nowhere"), UserError);
}

TEST(Page, FillingsAreNotLookedAtAgain) {
  const auto filling = [](std::string_view name) {
    return std::string(name == "a" ? "{{b}}" : "x");
  };
  EXPECT_EQ(fill_page("1{{a}}2{{b}}3", filling), "1{{b}}2x3");
  EXPECT_EQ(script_safe("[\"</script><!--\"]"), "[\"\\u003c/script>\\u003c!--\"]");
}

}  // namespace
}  // namespace sinter
