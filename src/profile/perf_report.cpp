// perf_report(): times the lines in turns at each size. A line's data is destroyed before the next
// size begins, so a sweep needs no more memory than its largest size.
#include <sinter/bench.h>
#include <sinter/error.h>

#include <new>

#include "src/base/check.h"
#include "src/profile/stopwatch_for.h"

namespace sinter {
namespace {

// A line's function for one size, and whether it can be timed.
struct Prepared {
  std::function<void()> run;
  std::string error;
};

template <typename Step>
std::string error_of(const Step& step) {
  try {
    step();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// The first call shows whether the function works at all.
Prepared prepare(const PerfLine& line, std::int64_t size) {
  Prepared prepared;
  prepared.error = error_of([&] {
    prepared.run = line.prepare(size);
    if (!prepared.run) fail_user("perf_report", "line '{}' prepared no function", line.name);
    prepared.run();
  });
  if (!prepared.error.empty()) prepared.run = nullptr;
  return prepared;
}

std::vector<PerfPoint> measure_size(std::span<const PerfLine> lines, std::int64_t size,
                                    const PerfReportOptions& options) {
  std::vector<Prepared> prepared;
  for (const PerfLine& line : lines) prepared.push_back(prepare(line, size));
  std::vector<std::function<void()>> runs;
  for (const Prepared& each : prepared)
    if (each.run) runs.emplace_back([&each] { each.run(); });
  std::vector<BenchResult> times;
  // A sporadic failure also invalidates the size's other lines, which were timed in turns with it.
  const std::string failure = error_of([&] { times = bench_in_turns(runs, options.bench); });
  std::vector<PerfPoint> points;
  std::size_t next = 0;
  for (const Prepared& each : prepared) {
    PerfPoint point;
    point.size = size;
    point.error = each.run ? failure : each.error;
    if (point.error.empty()) {
      point.time = times[next++];
      point.value =
          options.value ? options.value(size, point.time.median_us) : point.time.median_us;
    }
    points.push_back(std::move(point));
  }
  return points;
}

void check_arguments(std::span<const PerfLine> lines, const PerfReportOptions& options) {
  if (lines.empty()) fail_user("perf_report", "no line is given");
  if (options.sizes.empty()) fail_user("perf_report", "no size is given");
  for (const PerfLine& line : lines)
    if (!line.prepare) fail_user("perf_report", "line '{}' has no function", line.name);
  stopwatch_for(options.bench);  // throws now what every point would report
}

}  // namespace

PerfReport perf_report(std::span<const PerfLine> lines, const PerfReportOptions& options) {
  check_arguments(lines, options);
  PerfReport report{options.title, options.x_name, options.unit, {}};
  for (const PerfLine& line : lines) report.lines.push_back({line.name, {}});
  for (std::size_t i = 0; i < options.sizes.size(); ++i) {
    if (options.progress && !options.progress(i, options.sizes.size())) break;
    std::vector<PerfPoint> points = measure_size(lines, options.sizes[i], options);
    for (std::size_t l = 0; l < lines.size(); ++l)
      report.lines[l].points.push_back(std::move(points[l]));
  }
  return report;
}

}  // namespace sinter
