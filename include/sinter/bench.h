// Measuring time: of any function, of several against each other, over a range of sizes.
// docs/MEASURING.md says how and why.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace sinter {

enum class BenchClock : std::uint8_t {
  wall,  // for functions that have finished when they return
  cuda,  // events around the work that functions put on a CUDA stream; DeviceError without a driver
};

struct BenchOptions {
  double seconds = 0.5;  // of measuring after the warm-up, for all functions together
  int min_samples = 5;   // of each function, whatever the seconds say
  int max_samples = 2000;
  std::vector<double> quantiles = {};  // shares between 0 and 1, to be told besides the usual ones
  bool keep_samples = false;           // all of them, in BenchResult::samples_us
  BenchClock clock = BenchClock::wall;
  // For the clock `cuda`: the CUstream that functions launch on; null is the default stream. Its
  // context has to be current.
  void* cuda_stream = nullptr;
};

struct BenchResult {
  double median_us = 0;  // of one call
  double p20_us = 0;
  double p80_us = 0;
  double min_us = 0;
  int samples = 0;
  int calls_per_sample = 1;
  std::vector<double> quantiles_us = {};  // for each of the options' quantiles
  // As they were taken: the k-th samples of functions timed in turns lie next to each other in
  // time.
  std::vector<double> samples_us = {};
};

// Warms up, then measures until the time is over. A sample is one call; where the wall clock would
// be too coarse it is the mean of as many as fill 200 us. On a GPU the L2 is cold for each.
BenchResult bench(const std::function<void()>& run, const BenchOptions& options = {});

// The same for several functions, a sample of each in turns: what disturbs one disturbs all.
std::vector<BenchResult> bench_in_turns(std::span<const std::function<void()>> runs,
                                        const BenchOptions& options = {});

inline std::vector<BenchResult> bench_in_turns(std::initializer_list<std::function<void()>> runs,
                                               const BenchOptions& options = {}) {
  return bench_in_turns(std::span(runs.begin(), runs.size()), options);
}

// What a call costs its caller, in microseconds: many calls without waiting for their results,
// divided by their number. Of the options it uses the clock, max_samples (batches of calls) and the
// seconds: how long, about. The work is waited for between batches, which does not count.
double host_cost_us(const std::function<void()>& run, const BenchOptions& options = {});

// A function to be measured at one size. It owns what it works on, and is destroyed before the
// next size's is made.
using SizedRun = std::function<std::function<void()>(std::int64_t size)>;

// One line of a report: how to prepare the function for a size.
struct PerfLine {
  std::string name;
  SizedRun prepare;
};

struct PerfReportOptions {
  std::string title = "performance";  // also the names of saved files
  std::string x_name = "size";
  std::vector<std::int64_t> sizes;
  // What is drawn: from a size and the microseconds of a call. Microseconds without one.
  std::string unit = "us";
  std::function<double(std::int64_t size, double us)> value = nullptr;
  BenchOptions bench = {};
  // Told before each size; false ends the report there.
  std::function<bool(std::size_t done, std::size_t total)> progress = nullptr;
};

struct PerfPoint {
  std::int64_t size = 0;
  BenchResult time;
  double value = 0;
  std::string error;  // not empty: what preparing or running threw
};

struct PerfReport {
  struct Line {
    std::string name;
    std::vector<PerfPoint> points;  // by the sizes' order
  };
  std::string title;
  std::string x_name;
  std::string unit;
  std::vector<Line> lines;

  std::string table() const;  // a row a size, a column a line
  std::string csv() const;
  std::string json() const;
  std::string html() const;  // a page with a plot, in one file

  // Writes TITLE.csv, TITLE.json and TITLE.html into a directory, which it makes. UserError.
  void save(const std::string& directory) const;
};

// Times the lines in turns at each size. What one throws becomes its point's error.
PerfReport perf_report(std::span<const PerfLine> lines, const PerfReportOptions& options);

}  // namespace sinter
