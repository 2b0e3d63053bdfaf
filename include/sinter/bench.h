// Timing: one function, several functions against each other, or a range of sizes.
// docs/MEASURING.md explains the method.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace sinter {

enum class BenchClock : std::uint8_t {
  wall,  // wall-clock time, for functions that block until their work is done
  cuda,  // CUDA events around the work launched on a stream; DeviceError without a driver
};

struct BenchOptions {
  double seconds = 0.5;  // measuring time after the warm-up, shared by all functions
  int min_samples = 5;   // per function, even if the time runs out
  int max_samples = 2000;
  std::vector<double> quantiles = {};  // extra quantiles to report, between 0 and 1
  bool keep_samples = false;           // keep every sample in BenchResult::samples_us
  BenchClock clock = BenchClock::wall;
  // For `BenchClock::cuda`: the CUstream the functions launch on (null: the default stream). Its
  // context must be current.
  void* cuda_stream = nullptr;
};

struct BenchResult {
  double median_us = 0;  // time of one call
  double p20_us = 0;
  double p80_us = 0;
  double min_us = 0;
  int samples = 0;
  int calls_per_sample = 1;
  std::vector<double> quantiles_us = {};  // one per BenchOptions::quantiles
  // In measuring order. Functions timed in turns take their k-th samples back to back.
  std::vector<double> samples_us = {};
};

// Warms up, then measures until the time budget is spent. A sample is one call, or the mean over
// enough calls to fill 200 us where the wall clock is too coarse. On a GPU every sample starts with
// a cold L2 cache.
BenchResult bench(const std::function<void()>& run, const BenchOptions& options = {});

// Times several functions in turns, so that noise on the machine affects all of them alike.
std::vector<BenchResult> bench_in_turns(std::span<const std::function<void()>> runs,
                                        const BenchOptions& options = {});

inline std::vector<BenchResult> bench_in_turns(std::initializer_list<std::function<void()>> runs,
                                               const BenchOptions& options = {}) {
  return bench_in_turns(std::span(runs.begin(), runs.size()), options);
}

// Host time of one call in microseconds: issues many calls without waiting for their results and
// divides by their number. Waits between batches, outside the timing. Uses clock, max_samples
// (number of batches) and seconds (approximate duration) of the options.
double host_cost_us(const std::function<void()>& run, const BenchOptions& options = {});

// Prepares the function to measure at one size. The returned function owns its data and is
// destroyed before the next size is prepared.
using SizedRun = std::function<std::function<void()>(std::int64_t size)>;

// One line of a report.
struct PerfLine {
  std::string name;
  SizedRun prepare;
};

struct PerfReportOptions {
  std::string title = "performance";  // also names the saved files
  std::string x_name = "size";
  std::vector<std::int64_t> sizes;
  // Maps (size, time in us) to the plotted value. Defaults to the time itself.
  std::string unit = "us";
  std::function<double(std::int64_t size, double us)> value = nullptr;
  BenchOptions bench = {};
  // Called before each size; returning false ends the report.
  std::function<bool(std::size_t done, std::size_t total)> progress = nullptr;
};

struct PerfPoint {
  std::int64_t size = 0;
  BenchResult time;
  double value = 0;
  std::string error;  // message of the exception that preparing or running threw
};

struct PerfReport {
  struct Line {
    std::string name;
    std::vector<PerfPoint> points;  // in the order of the sizes
  };
  std::string title;
  std::string x_name;
  std::string unit;
  std::vector<Line> lines;

  std::string table() const;  // one row per size, one column per line
  std::string csv() const;
  std::string json() const;
  std::string html() const;  // a single-file page with a plot

  // Writes TITLE.csv, TITLE.json and TITLE.html into `directory`, creating it if needed. Throws
  // UserError.
  void save(const std::string& directory) const;
};

// Times the lines in turns at each size. An exception becomes that point's error.
PerfReport perf_report(std::span<const PerfLine> lines, const PerfReportOptions& options);

}  // namespace sinter
