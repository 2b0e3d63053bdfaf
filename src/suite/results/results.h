// The results of a suite run: rows, and what they were measured on. Written as JSON and CSV. A
// metric without a value could not be measured; `reasons` says why, by the field's name.
#pragma once

#include <sinter/bench.h>
#include <sinter/plan.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/suite/cases/random_set.h"

namespace sinter::suite {

// A row's time relative to its limit's, sample by sample: each sample is paired with the limit's
// sample next to it in time, so that longer disturbances affect both and not their ratio.
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
  std::string
      provider;       // "eager", "fused", "batch_invariant"; peers: "torch_eager", "torch_compile"
  std::string error;  // not empty: the row failed
  std::string skipped;  // not empty: it was not run, e.g. because it does not fit into memory

  std::optional<BenchResult> timing;
  int visits = 0;  // how often it was timed, or tried
  std::optional<double> limit_us;
  std::optional<LimitRatio> limit_ratio;
  std::optional<double> call_us;  // host cost of a warm call, for the smallest shapes
  std::int64_t bytes_min = 0;
  // What the kernels should move according to the plan.
  std::optional<std::int64_t> bytes_planned;
  std::optional<std::int64_t> bytes_measured;
  std::optional<std::int64_t> buffer_bytes;
  std::optional<double> compile_ms;
  std::optional<int> kernels_from_disk;
  std::optional<int> kernels;
  std::optional<double> max_abs_err;
  std::optional<double> max_rel_err;  // |error| / max(|reference|, rms of the reference)
  std::optional<double> tolerance;    // for max_rel_err; nullopt: not checked against one
  std::optional<std::int64_t> checked_elements;
  std::int64_t flops = 0;
  std::optional<std::int64_t> instructions;
  std::optional<std::int64_t> peak_bytes;
  std::optional<std::int64_t> bytes_transposed;  // of inputs read across their memory order
  std::vector<std::string> tiles;  // how each kernel of "fused" iterates, for this shape
  std::map<std::string, std::string> reasons;

  // Not written to files: the samples behind timing and limit_ratio, during a run.
  std::vector<double> samples_us;
  std::vector<double> limit_samples_us;
  // Adds a visit's paired samples and recomputes timing and limits from all. `limit` may be empty.
  void add_samples(const std::vector<double>& times, const std::vector<double>& limit);

  std::string title() const { return case_name + " " + shape + " " + dtype; }
  bool is_peers() const {
    return provider != "eager" && provider != "fused" && provider != "batch_invariant";
  }

  // Sets the reason of every metric without value and reason to why the row was skipped or failed.
  void explain_missing();

  bool is_wrong() const { return tolerance && max_rel_err && !(*max_rel_err <= *tolerance); }
  bool failed() const { return !error.empty() || is_wrong(); }
};

// The fusion plan of a case, for all shapes that share it. Byte and operation counts are those of
// the first.
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
  std::map<std::string, std::string> versions;  // of other software: "compiler", "torch"
  double seconds = 0;                           // timing per case, shape and dtype
  double copy_bytes_per_s = 0;                  // large parallel copy
  std::optional<double> peak_flops_per_s;       // f32 multiply-adds in registers
  std::optional<RandomSet> random;              // if the cells were drawn
  bool interrupted = false;
  std::vector<std::string> notes;  // about the whole run
  std::vector<ResultRow> rows;
  std::vector<CasePlan> plans;
};

// The format is described by results.schema.json beside this file.
std::string to_json(const Results& results, int indent = 1);  // -1: on one line
// UserError under the tag `op` that names `source` and the mistake in it.
Results from_json(const std::string& text, const std::string& source,
                  std::string_view op = "suite");
// The rows only, with the same names; error and skip reason are the last columns.
std::string to_csv(const Results& results);

// Writes DIR/results.json and DIR/results.csv atomically, creating DIR if needed. Returns the path
// of the former; UserError.
std::string write_results(const std::string& directory, const Results& results);
// From a file, or from results.json in a folder; UserError under the tag `op`.
Results read_results(const std::string& path, std::string_view op = "suite");

}  // namespace sinter::suite
