// All names are checked first, so that a typing error does not cost a run.
#include "src/suite/runner.h"

#include <sinter/device.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "src/base/check.h"
#include "src/runtime/registry.h"
#include "src/suite/measure.h"
#include "src/suite/plans.h"

namespace sinter::suite {
namespace {

constexpr std::int64_t kSmallest = 128;
constexpr std::int64_t kLargest = 65536;

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

std::shared_ptr<Device> open_device(const std::string& name) {
  devices();  // registers those that this build has
  return find_device(name);
}

std::vector<const Case*> chosen_cases(const std::vector<std::string>& names) {
  std::vector<const Case*> cases;
  for (const std::string& name : names) cases.push_back(&find_case(name));
  if (names.empty())
    for (const Case& each : all_cases()) cases.push_back(&each);
  return cases;
}

void check_providers(const std::vector<std::string>& providers) {
  if (providers.empty()) fail_user("suite", "no provider is given; there are eager and fused");
  for (const std::string& name : providers)
    if (name != "eager" && name != "fused")
      fail_user("suite", "there is no provider '{}'; there are eager and fused", name);
}

// The limit is a matter of the bytes, not of who moves them: it was measured with our own rows.
void add_peer_rows(std::vector<ResultRow>& rows, std::vector<ResultRow> of_peer) {
  const auto timed = std::find_if(rows.begin(), rows.end(),
                                  [](const ResultRow& row) { return row.limit_us.has_value(); });
  for (ResultRow& row : of_peer) {
    if (timed != rows.end())
      row.limit_us = timed->limit_us;
    else
      row.reasons["limit_us"] = "it is measured with Sinter's own rows, which failed";
  }
  rows.insert(rows.end(), std::make_move_iterator(of_peer.begin()),
              std::make_move_iterator(of_peer.end()));
}

std::vector<Measurement> plan_of(const SuiteOptions& options) {
  std::vector<Measurement> plan;
  for (const Case* each : chosen_cases(options.cases))
    for (DType dtype : options.dtypes)
      for (const Shape2& shape : options.shapes)
        plan.push_back({*each, shape, dtype, options.providers, options.seconds});
  return plan;
}

std::string title_of(const Measurement& what) {
  return fmt::format("{} {} {}", what.each.name, to_string(what.shape), name_of(what.dtype));
}

std::string title_of(const ResultRow& row) {
  return fmt::format("{} {} {}", row.case_name, row.shape, row.dtype);
}

// What stops the suite (Ctrl-C) stops a compiler that is running, too: that is no result.
void drop_errors(std::vector<ResultRow>& rows, std::size_t from) {
  rows.erase(std::remove_if(rows.begin() + static_cast<std::ptrdiff_t>(from), rows.end(),
                            [](const ResultRow& row) { return !row.error.empty(); }),
             rows.end());
}

void check_same(const char* what, const std::string& before, const std::string& now) {
  if (before != now)
    fail_user("suite",
              "the run to be resumed had another {}: '{}', now '{}'; start a new one without "
              "--resume",
              what, before, now);
}

// The stopped run's rows under the new run's circumstances, which must be the same.
Results continued(const Results& fresh, const Results& stopped) {
  check_same("device", stopped.device, fresh.device);
  check_same("machine", stopped.description, fresh.description);
  check_same("version of Sinter", stopped.version, fresh.version);
  check_same("commit", stopped.commit.value_or("unknown"), fresh.commit.value_or("unknown"));
  check_same("time for each case", fmt::format("{} s", stopped.seconds),
             fmt::format("{} s", fresh.seconds));
  Results results = stopped;
  results.interrupted = false;
  drop_errors(results.rows, 0);
  return results;
}

// The combinations of case, shape and type for which every provider has a row.
std::set<std::string> finished(const std::vector<ResultRow>& rows,
                               const std::vector<std::string>& providers) {
  std::map<std::string, std::set<std::string>> providers_of;
  for (const ResultRow& row : rows) providers_of[title_of(row)].insert(row.provider);
  std::set<std::string> all;
  for (const auto& [title, present] : providers_of)
    if (std::all_of(providers.begin(), providers.end(),
                    [&](const std::string& name) { return present.contains(name); }))
      all.insert(title);
  return all;
}

// Rows of a combination that is measured again make room.
void drop_title(std::vector<ResultRow>& rows, const std::string& title) {
  std::erase_if(rows, [&](const ResultRow& row) { return title_of(row) == title; });
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
  results.versions["system"] = system_text();
  results.copy_bytes_per_s = device.copy_bandwidth();
  results.peak_flops_per_s = device.peak_flops();
  return results;
}

}  // namespace

std::vector<std::string> set_names() { return {"quick", "grid"}; }

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
  const std::vector<Measurement> plan = plan_of(options);
  if (plan.empty()) fail_user("suite", "no shape or no type is given");
  const std::shared_ptr<Device> device = open_device(options.device);
  // As many threads as the device's kernels have; they also make inputs and references.
  ThreadPool threads(device->parallelism());
  std::vector<std::unique_ptr<Peer>> peers;
  for (const std::string& name : options.peers)
    peers.push_back(std::make_unique<Peer>(name, device->name(), options.peer_options));

  Results results = empty_results(options, *device);
  if (options.resumed) results = continued(results, *options.resumed);
  std::vector<std::string> providers = options.providers;
  for (const auto& peer : peers) {
    results.versions.insert(peer->versions().begin(), peer->versions().end());
    providers.insert(providers.end(), peer->providers().begin(), peer->providers().end());
  }
  const std::set<std::string> kept = finished(results.rows, providers);
  std::size_t last_from = results.rows.size();  // where the rows of the measurement before begin
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const std::string title = title_of(plan[i]);
    if (kept.contains(title)) continue;
    if (!progress({results, i, plan.size(), title})) {
      results.interrupted = true;
      drop_errors(results.rows, last_from);
      return results;
    }
    drop_title(results.rows, title);
    last_from = results.rows.size();
    Measured measured = measure(plan[i], *device, threads);
    device->release_cached();  // a peer has memory of its own
    for (const auto& peer : peers) add_peer_rows(measured.rows, peer->measure(plan[i], *device));
    if (measured.plan) add_plan(results.plans, measured.rows.front(), std::move(*measured.plan));
    std::move(measured.rows.begin(), measured.rows.end(), std::back_inserter(results.rows));
  }
  progress({results, plan.size(), plan.size(), ""});
  return results;
}

}  // namespace sinter::suite
