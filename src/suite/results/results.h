// What a run of the suite found: rows, and what they were measured on. Written as JSON and CSV.
// A field without a value could not be measured; `reasons` says why, by the field's name.
#pragma once

#include <sinter/bench.h>
#include <sinter/plan.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sinter::suite {

// A row's time in units of its limit's, sample by sample: each with the limit's sample next to it
// in time. What disturbs the machine for longer than that disturbs both, and not their ratio.
struct LimitRatio {
  double median = 0;
  double p20 = 0;
  double p80 = 0;
};

struct ResultRow {
  std::string case_name;
  std::string shape;
  std::string dtype;
  std::string device;
  std::string provider;  // "eager", "fused"; peers: "torch_eager", "torch_compile"
  std::string error;     // not empty: the row failed
  std::string skipped;   // not empty: it was not run, e.g. because it does not fit into memory

  std::optional<BenchResult> timing;
  int visits = 0;  // in which it was timed, or tried
  std::optional<double> limit_us;
  std::optional<LimitRatio> limit_ratio;
  std::optional<double> call_us;  // what a warm call costs its caller, for the smallest shapes
  std::int64_t bytes_min = 0;
  std::optional<std::int64_t> bytes_planned;  // what the kernels should move, by the plan
  std::optional<std::int64_t> bytes_measured;
  std::optional<std::int64_t> buffer_bytes;
  std::optional<double> compile_ms;
  std::optional<int> kernels_from_disk;
  std::optional<int> kernels;
  std::optional<double> max_abs_err;
  std::optional<double> max_rel_err;  // |error| / max(|reference|, rms of the reference)
  std::optional<double> tolerance;    // of max_rel_err; none: not held to one
  std::optional<std::int64_t> checked_elements;
  std::int64_t flops = 0;
  std::optional<std::int64_t> instructions;
  std::optional<std::int64_t> peak_bytes;
  std::optional<std::int64_t> bytes_transposed;  // of inputs, read across their order in memory
  std::vector<std::string> tiles;  // how each kernel of "fused" walks its domain, for this shape
  std::map<std::string, std::string> reasons;

  // Not written: what timing and limit_ratio are made of, while a run goes on.
  std::vector<double> samples_us;
  std::vector<double> limit_samples_us;
  // Adds those of a visit, pairs in time, and makes timing and limits anew from all. `limit` may be
  // empty.
  void add_samples(const std::vector<double>& times, const std::vector<double>& limit);

  std::string title() const { return case_name + " " + shape + " " + dtype; }
  bool is_peers() const { return provider != "eager" && provider != "fused"; }

  // Gives every metric that has no value and no reason the row's own: why it was skipped or failed.
  void explain_missing();

  bool is_wrong() const { return tolerance && max_rel_err && !(*max_rel_err <= *tolerance); }
  bool failed() const { return !error.empty() || is_wrong(); }
};

// What fusion made of a case, for all the shapes where it is the same. Numbers of bytes and
// operations are those of the first.
struct CasePlan {
  std::string case_name;
  std::string dtype;
  std::vector<std::string> shapes;
  PlanInfo plan;
};

struct Results {
  std::string date;  // UTC, ISO 8601
  std::string device;
  std::string description;
  std::optional<std::string> commit;
  std::string command_line;
  std::string version;                          // Sinter's
  std::map<std::string, std::string> versions;  // of what took part besides: "compiler", "torch"
  double seconds = 0;                           // of timing, for each case, shape and type
  double copy_bytes_per_s = 0;                  // of a large parallel copy
  std::optional<double> peak_flops_per_s;       // of f32 multiply-adds in registers
  bool interrupted = false;
  std::vector<std::string> notes;  // about the whole run
  std::vector<ResultRow> rows;
  std::vector<CasePlan> plans;
};

// results.schema.json beside this file describes the text.
std::string to_json(const Results& results, int indent = 1);  // -1: all in one line
// UserError that names `source` and what is wrong with it.
Results from_json(const std::string& text, const std::string& source);
// The rows alone, under the same names; errors and reasons for skipping in the last columns.
std::string to_csv(const Results& results);

// Writes DIR/results.json and DIR/results.csv, making DIR where it is missing: each to a temporary
// name, then renamed. Returns the first's path; UserError where that cannot be done.
std::string write_results(const std::string& directory, const Results& results);
Results read_results(const std::string& path);  // of that file or in that folder; UserError

}  // namespace sinter::suite
