// All names are checked first, so that a typo does not cost a run.
#include "src/suite/measure/runner.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>

#include "src/api/devices.h"
#include "src/base/check.h"
#include "src/base/options.h"
#include "src/base/processors.h"
#include "src/cpu/cpu_info.h"
#include "src/suite/measure/measure.h"
#include "src/suite/measure/select.h"
#include "src/suite/measure/select_random.h"
#include "src/suite/results/plans.h"
#include "src/suite/results/resume.h"

namespace sinter::suite {
namespace {

constexpr std::int64_t kSmallest = 128;
constexpr std::int64_t kLargest = 65536;
// Everything is timed in two visits, the second after the first visit of all cells: a disturbance
// of some seconds affects only one of them and shows in the spread.
constexpr std::size_t kVisits = 2;
// With fewer cells, a peer compiles them sooner than its worker processes would start.
constexpr std::size_t kWorthCompilingAhead = 9;
constexpr double kOtherSeconds = 0.2;  // first-visit overhead: compiling, checking
// Share of device memory kept between cases, since allocating takes time. A peer keeps as much.
constexpr std::size_t kKeptShare = 32;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string system_text() {
  utsname name{};
  uname(&name);
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

// On the CPU as many as its kernels use: they also copy for the limit.
int host_threads(const Device& device) {
  if (device.machine().kind == MachineKind::cpu) return device.parallelism();
  const int asked = environment_options().num_threads;
  return asked > 0 ? asked : available_cpus();
}

void check_providers(const std::vector<std::string>& providers) {
  constexpr std::string_view kKnown = "there are eager, fused and batch_invariant";
  if (providers.empty()) fail_user("suite", "no provider is given; {}", kKnown);
  for (const std::string& name : providers)
    if (name != "eager" && name != "fused" && name != "batch_invariant")
      fail_user("suite", "there is no provider '{}'; {}", name, kKnown);
}

// The limit depends on the bytes only, so peers get that of our own rows.
void share_limit(std::span<const ResultRow> own, std::span<ResultRow> of_peer) {
  const auto timed = std::find_if(own.begin(), own.end(),
                                  [](const ResultRow& row) { return row.limit_us.has_value(); });
  for (ResultRow& row : of_peer) {
    if (timed != own.end())
      row.limit_us = timed->limit_us;
    else
      row.reasons["limit_us"] = "it is measured with Sinter's own rows, which failed";
    for (const char* field : {"limit_ratio", "limit_ratio_p20", "limit_ratio_p80"})
      row.reasons[field] = "a peer is not timed in turns with the limit";
    row.explain_missing();
  }
}

std::string title_of(const Measurement& what) { return what.workload->facts().title(); }

std::vector<Measurement> plan_of(const SuiteOptions& options, const Selection& selection) {
  std::vector<Measurement> plan;
  for (const WorkloadPtr& each : selection.workloads)
    if (options.only.empty() || options.only.contains(each->facts().title()))
      plan.push_back({each, options.providers, options.seconds / double{kVisits}});
  return plan;
}

Results empty_results(const SuiteOptions& options, Device& device) {
  Results results;
  results.date = utc_now();
  results.device = device.name();
  results.description = device.description();
  results.version = SINTER_VERSION;
  results.command_line = options.command_line;
  results.commit = options.commit;
  results.seconds = options.seconds;
  results.random = options.random;
  results.versions["system"] = system_text();
  if (device.machine().kind != MachineKind::cpu) results.versions["host"] = cpu_model();
  if (const std::string compiler = device.compiler_version(); !compiler.empty())
    results.versions["compiler"] = compiler;
  results.copy_bytes_per_s = device.copy_bandwidth();
  results.peak_flops_per_s = device.peak_flops();
  return results;
}

// A run in progress: a first visit to every cell, then the later ones.
class SuiteRun {
 public:
  SuiteRun(const SuiteOptions& options, std::span<const Measurement> plan,
           const Selection& selection, const ProgressCallback& progress)
      : options_(options),
        plan_(plan),
        progress_(progress),
        device_(open_device(options.device)),
        bench_(device_, host_threads(*device_)) {
    for (const std::string& name : options.peers)
      peers_.push_back(std::make_unique<Peer>(name, device_->name(), options.peer_options));
    results_ = empty_results(options, *device_);
    results_.versions.insert(selection.programs.begin(), selection.programs.end());
    results_.notes = selection.notes;
    for (const auto& peer : peers_)
      results_.versions.insert(peer->versions().begin(), peer->versions().end());
    if (options.resumed) results_ = continued(results_, *options.resumed);
  }

  Results run() {
    const std::vector<std::size_t> todo = unfinished();
    firsts_ = plan_.size() - todo.size();
    laters_ = firsts_ * (kVisits - 1);
    results_.interrupted = true;  // until the end: files written before are incomplete
    if (compile_ahead(todo) && visit_all(todo)) {
      results_.interrupted = false;
      tell("");
    }
    return std::move(results_);
  }

 private:
  // What a later visit needs from the first.
  struct Visited {
    const Measurement& what;
    std::size_t first_row;
    std::size_t rows;
    std::optional<CopyWay> limit_way;
  };

  // Indices into the plan. Drops partial rows of these.
  std::vector<std::size_t> unfinished() {
    std::vector<std::string> providers = options_.providers;
    for (const auto& peer : peers_)
      providers.insert(providers.end(), peer->providers().begin(), peer->providers().end());
    const std::set<std::string> kept = finished(results_.rows, providers);
    std::vector<std::size_t> todo;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (kept.contains(title_of(plan_[i]))) continue;
      drop_title(results_.rows, title_of(plan_[i]));
      todo.push_back(i);
    }
    return todo;
  }

  // False: stopped. Graphs that were not compiled ahead of time are compiled when measured.
  bool compile_ahead(const std::vector<std::size_t>& todo) {
    if (peers_.empty()) return true;
    std::vector<Measurement> all;
    for (const std::size_t i : todo)
      if (plan_[i].workload->for_peers().missing.empty()) all.push_back(plan_[i]);
    for (std::size_t i = 0; i < peers_.size() && all.size() >= kWorthCompilingAhead; ++i) {
      if (!peers_[i]->compiles_ahead()) continue;
      bool stopped = false;
      const std::string& name = options_.peers[i];
      const std::string failure =
          peers_[i]->compile_ahead(all, *device_, [&](std::size_t compiled) {
            stopped = !progress_({results_, compiled, all.size(), static_cast<double>(compiled),
                                  static_cast<double>(all.size()), "compiling for " + name});
            return !stopped;
          });
      if (stopped) return false;
      if (!failure.empty())
        results_.notes.push_back(fmt::format("compiling for {} ahead failed: {}", name, failure));
    }
    return true;
  }

  // False: stopped.
  bool visit_all(const std::vector<std::size_t>& todo) {
    std::vector<Visited> visited;
    for (const std::size_t i : todo) {
      if (!tell(title_of(plan_[i]))) {
        if (!visited.empty()) drop_errors(results_.rows, visited.back().first_row);
        return false;
      }
      visited.push_back(first_visit(plan_[i]));
      ++firsts_;
    }
    for (std::size_t visit = 1; visit < kVisits; ++visit)
      for (const Visited& each : visited) {
        if (!tell(title_of(each.what) + ", again")) return false;
        later_visit(each);
        ++laters_;
      }
    return true;
  }

  Visited first_visit(const Measurement& what) {
    const std::size_t first_row = results_.rows.size();
    Measured measured = measure(what, bench_);
    make_room();
    Measurement at_once = what;  // a peer is visited once and gets all the time
    at_once.seconds = options_.seconds;
    std::vector<ResultRow> of_peers;
    for (const auto& peer : peers_)
      for (ResultRow& row : peer->measure(at_once, *device_)) of_peers.push_back(std::move(row));
    share_limit(measured.rows, of_peers);
    if (measured.plan) add_plan(results_.plans, measured.rows.front(), std::move(*measured.plan));
    for (std::vector<ResultRow>* rows : {&measured.rows, &of_peers})
      std::move(rows->begin(), rows->end(), std::back_inserter(results_.rows));
    return {what, first_row, results_.rows.size() - first_row, measured.limit_way};
  }

  void later_visit(const Visited& visited) {
    const std::span rows = std::span(results_.rows).subspan(visited.first_row, visited.rows);
    const std::span<ResultRow> own = rows.first(visited.what.providers.size());
    time_again(visited.what, bench_, own, visited.limit_way);
    make_room();
    share_limit(own, rows.subspan(own.size()));
  }

  // Approximate duration of that many visits in seconds, with overheads as on a GPU.
  double work_of(std::size_t firsts, std::size_t laters) const {
    const double timing = options_.seconds / double{kVisits};
    const auto peers = static_cast<double>(peers_.size());
    const double first = timing + kOtherSeconds + peers * (options_.seconds + kOtherSeconds);
    const double later = timing + kOtherSeconds / 10;
    return static_cast<double>(firsts) * first + static_cast<double>(laters) * later;
  }

  // Frees memory for a peer, which has its own pool.
  void make_room() {
    if (device_->shares_host_memory() ||
        device_->memory().cached > device_->available_memory() / kKeptShare)
      device_->release_cached();
  }

  bool tell(const std::string& next) const {
    const std::size_t all = plan_.size();
    return progress_({results_, firsts_ + laters_, all * kVisits, work_of(firsts_, laters_),
                      work_of(all, all * (kVisits - 1)), next});
  }

  const SuiteOptions& options_;
  std::span<const Measurement> plan_;
  const ProgressCallback& progress_;
  std::shared_ptr<Device> device_;
  Workbench bench_;
  std::vector<std::unique_ptr<Peer>> peers_;
  Results results_;
  std::size_t firsts_ = 0;  // completed visits
  std::size_t laters_ = 0;
};

}  // namespace

std::vector<std::string> set_names() { return {"quick", "grid", kRandomSet}; }

std::vector<Shape2> shapes_of_set(const std::string& set) {
  if (set == "quick") return {{128, 128}, {4096, 4096}, {65536, 128}, {128, 65536}};
  if (set != "grid") fail_user("suite", "there is no set '{}'; there are quick and grid", set);
  std::vector<Shape2> shapes;
  for (std::int64_t rows = kSmallest; rows <= kLargest; rows *= 2)
    for (std::int64_t cols = kSmallest; cols <= kLargest; cols *= 2) shapes.push_back({rows, cols});
  return shapes;
}

Results run_suite(const SuiteOptions& options, const ProgressCallback& progress) {
  check_providers(options.providers);
  for (const std::string& name : options.peers) check_peer_name(name);
  SuiteOptions limited = options;
  if (options.random) limited.random = complete_set(options, *open_device(options.device));
  const Selection selection =
      options.random ? select_random(*limited.random) : select_workloads(options);
  const std::vector<Measurement> plan = plan_of(limited, selection);
  if (plan.empty()) fail_user("suite", "no shape or no type is given");
  return SuiteRun(limited, plan, selection, progress).run();
}

}  // namespace sinter::suite
