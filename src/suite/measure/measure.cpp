// Order: inputs, compilation, first call and its memory, accuracy, timing in turns, counters.
#include "src/suite/measure/measure.h"

#include <sinter/bench.h>
#include <sinter/compile.h>

#include <algorithm>
#include <memory>
#include <new>

#include "src/base/check.h"
#include "src/cpu/cpu_info.h"
#include "src/profile/bench_stopwatch.h"
#include "src/profile/counters.h"
#include "src/suite/measure/copy_limit.h"

namespace sinter::suite {
namespace {

constexpr std::int64_t kCallElements = 128 * 128;
constexpr double kCallSeconds = 0.02;
constexpr int kQueuedLaunches = 500;   // a GPU's launch queue holds about twice as many
constexpr double kLongUs = 50'000;     // calls this long need only one visit
constexpr double kCountedUs = 20'000;  // time under the counters, at least one call

// A provider being measured. It drops out once its row has an error or a reason for being skipped.
struct Contestant {
  ResultRow row;
  CompiledFunction function;
  std::vector<Tensor> outputs;
  std::optional<PlanInfo> plan;

  bool alive() const { return row.error.empty() && row.skipped.empty(); }
};

// Why a step failed: lack of memory is a property of the machine, anything else an error.
struct Failure {
  std::string error;
  std::string skipped;
};

template <typename Step>
Failure failure_of(const Step& step) {
  try {
    step();
  } catch (const OutOfMemoryError& error) {
    return {"", fmt::format("does not fit into memory: {}", error.what())};
  } catch (const std::bad_alloc&) {
    return {"", "does not fit into memory"};
  } catch (const std::exception& error) {
    return {error.what(), ""};
  }
  return {};
}

void take_out(Contestant& each, const Failure& failure) {
  each.row.error = failure.error;
  each.row.skipped = failure.skipped;
  if (!each.alive()) each.outputs.clear();
}

// Runs `step` for the remaining contestants; an exception drops that one.
template <typename Step>
void for_each_alive(std::vector<Contestant>& contestants, const Step& step) {
  for (Contestant& each : contestants)
    if (each.alive()) take_out(each, failure_of([&] { step(each); }));
}

// Runs a step that concerns all of them.
template <typename Step>
void for_all(std::vector<Contestant>& contestants, const Step& step) {
  const Failure failure = failure_of(step);
  for (Contestant& each : contestants)
    if (each.alive()) take_out(each, failure);
}

std::string gigabytes(double bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

// Checked before minutes are spent on generating inputs whose results do not fit.
std::string why_it_does_not_fit(const Measurement& what, const Device& device) {
  const WorkloadFacts& facts = what.workload->facts();
  const auto needed =
      static_cast<double>(facts.input_bytes) + static_cast<double>(facts.output_bytes);
  const auto available = static_cast<double>(device.available_memory());
  if (needed > available)
    return fmt::format("does not fit into memory: inputs and outputs take {}, {} are free",
                       gigabytes(needed), gigabytes(available));
  if (device.shares_host_memory()) return "";
  const auto on_host = static_cast<double>(what.workload->host_bytes(device));
  const auto free_on_host = static_cast<double>(system_memory().available);
  if (on_host <= free_on_host) return "";
  return fmt::format("does not fit into memory: checking takes {} of the host's, {} are free",
                     gigabytes(on_host), gigabytes(free_on_host));
}

void compile_and_call(Contestant& each, std::span<const Tensor> inputs, Device& device) {
  const ProgramInfo info = each.function.info(inputs);
  ResultRow& row = each.row;
  row.kernels = info.kernels;
  row.kernels_from_disk = info.kernels_from_disk;
  row.compile_ms = info.compile_ms;
  row.bytes_planned = info.bytes;
  row.buffer_bytes = info.buffer_bytes;
  if (row.provider == "fused") {
    each.plan = each.function.plan(inputs);
    for (const PlanKernel& kernel : each.plan->kernels) row.tiles.push_back(kernel.tiles);
  }
  device.reset_peak();
  const std::size_t before = device.memory().in_use;
  each.outputs = each.function.call(inputs);
  device.synchronize();  // attributes kernel errors to this provider
  row.peak_bytes = static_cast<std::int64_t>(device.memory().peak - before);
}

void check(std::vector<Contestant>& contestants, const Measurement& what,
           std::span<const Tensor> inputs, ThreadPool& threads) {
  std::vector<ProviderOutputs> results;
  for (Contestant& each : contestants)
    if (each.alive())
      results.push_back({each.row.provider, each.row.kernels.value_or(0), std::move(each.outputs)});
  if (results.empty()) return;
  const std::vector<Checked> all_checked = what.workload->check(inputs, results, threads);
  std::size_t next = 0;
  for (Contestant& each : contestants) {
    if (!each.alive()) continue;
    const Checked& checked = all_checked[next++];
    each.row.max_abs_err = checked.max_abs_err;
    each.row.max_rel_err = checked.max_rel_err;
    each.row.tolerance = checked.tolerance;
    each.row.checked_elements = checked.checked_elements;
    each.row.reasons.insert(checked.reasons.begin(), checked.reasons.end());
  }
}

// Upper bound of the device memory of one call.
std::int64_t memory_of_a_call(const Measurement& what, std::span<const Contestant> contestants) {
  std::int64_t most = what.workload->facts().output_bytes;
  for (const Contestant& each : contestants) most = std::max(most, each.row.peak_bytes.value_or(0));
  return most;
}

std::unique_ptr<CopyLimit> make_limit(const Measurement& what, Workbench& bench,
                                      std::optional<CopyWay> way,
                                      std::vector<Contestant>& contestants) {
  try {
    return std::make_unique<CopyLimit>(what.workload->facts().bytes_min, bench.device(),
                                       bench.threads(), bench.stopwatch(),
                                       memory_of_a_call(what, contestants), way);
  } catch (const Error& error) {
    for (Contestant& each : contestants)
      if (!each.row.limit_us)
        for (const char* field : {"limit_us", "limit_ratio", "limit_ratio_p20", "limit_ratio_p80"})
          each.row.reasons[field] = error.what();
    return nullptr;
  }
}

// Returns how the limit was copied. Each result is freed at the end of its call, so the pool gives
// the next call the same memory.
std::optional<CopyWay> time_all(std::vector<Contestant>& contestants, const Measurement& what,
                                std::span<const Tensor> inputs, Workbench& bench,
                                std::optional<CopyWay> way = std::nullopt) {
  std::vector<std::function<void()>> runs;
  for (const Contestant& each : contestants)
    if (each.alive()) runs.emplace_back([&each, inputs] { each.function.call(inputs); });
  if (runs.empty()) return way;
  const std::unique_ptr<CopyLimit> limit = make_limit(what, bench, way, contestants);
  if (limit) runs.emplace_back([&limit] { limit->run(); });
  const std::vector<BenchResult> timings =
      bench_in_turns(runs, {.seconds = what.seconds, .keep_samples = true}, bench.stopwatch());
  const std::vector<double> no_limit;
  std::size_t next = 0;
  for (Contestant& each : contestants)
    if (each.alive())
      each.row.add_samples(timings[next++].samples_us,
                           limit ? timings.back().samples_us : no_limit);
  return limit ? limit->way() : way;
}

void measure_call(Contestant& each, const Measurement& what, std::span<const Tensor> inputs,
                  Workbench& bench) {
  if (what.workload->facts().elements > kCallElements) {
    each.row.reasons["call_us"] = "measured at 128x128 and below only";
    return;
  }
  const int calls =
      std::clamp(kQueuedLaunches / std::max(each.row.kernels.value_or(1), 1), 1, kHostCalls);
  each.row.call_us = host_cost_us([&each, inputs] { each.function.call(inputs); },
                                  {.seconds = kCallSeconds}, bench.stopwatch(), calls);
}

// Whether counters are available is a property of the machine, determined once.
const CounterReading& counters_here() {
  static const CounterReading reading = count([] {}, 1);
  return reading;
}

void read_counters(Contestant& each, std::span<const Tensor> inputs) {
  if (!each.row.timing) return;
  CounterReading reading = counters_here();
  if (each.row.device != "cpu") {
    reading = {};
    reading.why_no_instructions = reading.why_no_bytes = "only the CPU's counters are read yet";
  } else if (reading.instructions || reading.bytes) {
    const double calls = kCountedUs / each.row.timing->median_us;
    reading =
        count([&] { each.function.call(inputs); }, static_cast<int>(std::clamp(calls, 1.0, 100.0)));
  }
  each.row.instructions = reading.instructions;
  each.row.bytes_measured = reading.bytes;
  if (!reading.instructions) each.row.reasons["instructions"] = reading.why_no_instructions;
  if (!reading.bytes) each.row.reasons["bytes_measured"] = reading.why_no_bytes;
}

}  // namespace

ResultRow empty_row(const Measurement& what, const std::string& provider, const Device& device) {
  ResultRow row;
  const WorkloadFacts& facts = what.workload->facts();
  row.case_name = facts.case_name;
  row.shape = facts.shape;
  row.dtype = facts.dtype;
  row.device = device.name();
  row.provider = provider;
  row.bytes_min = facts.bytes_min;
  row.bytes_transposed = facts.bytes_transposed;
  row.flops = facts.flops;
  return row;
}

Stopwatch& Workbench::stopwatch() {
  if (!stopwatch_) stopwatch_ = device_->stopwatch();
  return *stopwatch_;
}

Measured measure(const Measurement& what, Workbench& bench) {
  const std::shared_ptr<Device>& device = bench.device();
  std::vector<Contestant> contestants;
  const std::string too_large = why_it_does_not_fit(what, *device);
  for (const std::string& provider : what.providers) {
    contestants.push_back(
        {empty_row(what, provider, *device), what.workload->compiled(provider), {}, {}});
    contestants.back().row.skipped = too_large;
  }
  Measured measured;
  if (too_large.empty()) {
    std::vector<Tensor> inputs;
    for_all(contestants, [&] { inputs = what.workload->make_inputs(device, bench.threads()); });
    for_each_alive(contestants, [&](Contestant& each) { compile_and_call(each, inputs, *device); });
    for_all(contestants, [&] { check(contestants, what, inputs, bench.threads()); });
    for_all(contestants, [&] { measured.limit_way = time_all(contestants, what, inputs, bench); });
    for_each_alive(contestants, [&](Contestant& each) { measure_call(each, what, inputs, bench); });
    for_each_alive(contestants, [&](Contestant& each) { read_counters(each, inputs); });
  }
  for (Contestant& each : contestants) {
    each.row.visits = 1;
    each.row.explain_missing();
    measured.rows.push_back(std::move(each.row));
    if (each.plan) measured.plan = std::move(each.plan);
  }
  return measured;
}

void time_again(const Measurement& what, Workbench& bench, std::span<ResultRow> rows,
                std::optional<CopyWay> limit_way) {
  std::vector<Contestant> contestants;
  bool is_long = false;
  for (ResultRow& row : rows) {
    ++row.visits;
    if (row.samples_us.empty()) continue;
    is_long |= row.timing->median_us > kLongUs;
    contestants.push_back({row, what.workload->compiled(row.provider), {}, {}});
  }
  if (contestants.empty() || is_long) return;
  // A failure here comes after the measurement is complete.
  const Failure failure = failure_of([&] {
    const std::vector<Tensor> inputs = what.workload->make_inputs(bench.device(), bench.threads());
    time_all(contestants, what, inputs, bench, limit_way);
  });
  if (!failure.error.empty() || !failure.skipped.empty()) return;
  for (Contestant& each : contestants)
    for (ResultRow& row : rows)
      if (row.provider == each.row.provider) row = each.row;
}

}  // namespace sinter::suite
