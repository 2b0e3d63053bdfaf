// Each cause is a function that returns a sentence if the numbers support it. Thresholds are
// fractions of the limit's time, so they apply to any machine and size.
#include "src/suite/report/causes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "src/suite/cases/case.h"
#include "src/suite/report/plan_work.h"
#include "src/suite/report/rules.h"

namespace sinter::suite {
namespace {

constexpr double kMoreTraffic = 1.1;  // times the minimal traffic
// At most this part of the copy's time is due to its bytes.
constexpr double kMostlyLatency = 0.5;
constexpr double kLongestLatencyUs = 100;  // launching a kernel or waking all threads takes less
constexpr double kTransposedShare = 0.1;   // of the bytes
constexpr double kHardlyWritten = 0.1;     // of the bytes
constexpr double kOperationsOfAnFma = 2;   // the peak counts an FMA as two operations
// Fraction of the copy's time. A GPU computes while other threads' loads are in flight; a CPU core
// overlaps both only within its reorder window, which expensive operations fill up.
constexpr double kMathShare = 0.6;
constexpr double kHeavyMathShareOnCpu = 0.2;
constexpr double kMathOfExcess = 0.5;       // of the time above the copy's
constexpr double kNearlyTheLeast = 3;       // times the fastest row's time
constexpr double kSmallBesideOthers = 0.1;  // of the bytes of the run's largest row

std::string time_text(double us) {
  if (us >= 1e6) return fmt::format("{:.3g} s", us / 1e6);
  return us >= 1e3 ? fmt::format("{:.3g} ms", us / 1e3) : fmt::format("{:.3g} µs", us);
}
std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.3g} GB", bytes / 1e9);
  return bytes >= 1e6 ? fmt::format("{:.3g} MB", bytes / 1e6)
                      : fmt::format("{:.3g} kB", bytes / 1e3);
}
std::string plural(int count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// Parses "8x128x512".
double elements_of_shape(const std::string& shape) {
  double elements = 1;
  for (std::size_t at = 0; at < shape.size(); at = shape.find_first_not_of('x', at)) {
    const std::size_t end = std::min(shape.find('x', at), shape.size());
    elements *= std::strtod(shape.substr(at, end - at).c_str(), nullptr);
    at = end;
  }
  return elements;
}

// Everything known about a row.
struct Evidence {
  const Results& run;
  const ResultRow& row;
  const CasePlan* plan = nullptr;  // null: not recorded
  PlanWork work = {};
  TileFacts tiles = {};
  double limit_us = 0;

  bool on_gpu() const { return row.device.starts_with("cuda"); }
  double bytes() const { return static_cast<double>(row.bytes_min); }
  // A program's sizes need not multiply to its elements, but usually it has a plan of its own.
  double operations() const {
    return row.shape == plan->shapes.front() ? work.all_operations
                                             : work.operations * elements_of_shape(row.shape);
  }
};

using Found = std::optional<Cause>;

// If so, nothing else can be said reliably.
Found disturbed(const Evidence& it) {
  const LimitRatio& ratio = *it.row.limit_ratio;
  if (ratio.p80 <= rules().far_apart * ratio.p20) return std::nullopt;
  return Cause{"disturbance",
               fmt::format("Something else probably ran beside it: its samples lie between {:.2f} "
                           "and {:.2f} times the copy's time (p20 and p80).",
                           ratio.p20, ratio.p80)};
}

Found extra_traffic(const Evidence& it) {
  if (!it.row.bytes_planned || it.row.bytes_min <= 0) return std::nullopt;
  const double times = static_cast<double>(*it.row.bytes_planned) / it.bytes();
  if (times < kMoreTraffic) return std::nullopt;
  return Cause{"extra traffic",
               fmt::format("Bound by memory traffic: its {} move {:.2g} times the least "
                           "bytes; the plan says which values go through memory.",
                           plural(it.row.kernels.value_or(1), "kernel", "kernels"), times)};
}

Found several_passes(const Evidence& it) {
  if (it.tiles.passes < 2) return std::nullopt;
  return Cause{"several passes",
               fmt::format("Probably bound by reading its input {} times: a row does not "
                           "fit into registers or a core's cache.",
                           it.tiles.passes)};
}

// Most of the copy's own time is fixed cost, not bytes.
Found latency(const Evidence& it) {
  if (it.run.copy_bytes_per_s <= 0) return std::nullopt;
  const double bytes_us = it.bytes() / it.run.copy_bytes_per_s * 1e6;
  if (bytes_us > kMostlyLatency * it.limit_us || it.limit_us - bytes_us > kLongestLatencyUs)
    return std::nullopt;
  return Cause{"latency",
               fmt::format("Probably bound by latency and launch cost: {} take {} at the "
                           "speed of a large copy, and even a copy of them takes {}.",
                           bytes_text(it.bytes()), time_text(bytes_us), time_text(it.limit_us))};
}

std::string heavy_text(const PlanWork& work) {
  std::vector<std::string> names;
  for (const auto& [name, count] : work.heavy) names.push_back(fmt::format("{} {}", count, name));
  return names.empty()
             ? ""
             : fmt::format(", {} of them for {}", work.heavy_cost, fmt::join(names, " and "));
}

Found math(const Evidence& it) {
  if (!it.plan || !it.run.peak_flops_per_s || *it.run.peak_flops_per_s <= 0) return std::nullopt;
  const double per_second = *it.run.peak_flops_per_s / kOperationsOfAnFma;
  const double us = it.operations() / per_second * 1e6;
  const bool hides_little = !it.on_gpu() && !it.work.heavy.empty();
  if (us < (hides_little ? kHeavyMathShareOnCpu : kMathShare) * it.limit_us ||
      us < kMathOfExcess * (it.row.timing->median_us - it.limit_us))
    return std::nullopt;
  return Cause{
      "math",
      fmt::format("Probably bound by math: about {:.0f} instructions for each "
                  "element{}; they take {} at the peak that was measured, the copy {}.",
                  it.work.operations, heavy_text(it.work), time_text(us), time_text(it.limit_us))};
}

// Older files do not record the layout of inputs; the table of cases has it.
double transposed_bytes(const ResultRow& row) {
  if (row.bytes_transposed) return static_cast<double>(*row.bytes_transposed);
  constexpr Shape2 kAny{1024, 1024};
  for (const Case& each : all_cases())
    if (each.name == row.case_name)
      return static_cast<double>(row.bytes_min) *
             static_cast<double>(transposed_bytes(each, kAny, DType::f32)) /
             static_cast<double>(bytes_min(each, kAny, DType::f32));
  return 0;
}

Found transposed(const Evidence& it) {
  const double bytes = transposed_bytes(it.row);
  if (bytes < kTransposedShare * it.bytes()) return std::nullopt;
  return Cause{"transposed access",
               fmt::format("Probably bound by transposed access: {} of its {} are "
                           "read across the order in which they lie in memory.",
                           bytes_text(bytes), bytes_text(it.bytes()))};
}

std::string waiting_text(const Evidence& it) {
  if (it.tiles.cluster > 1)
    return fmt::format("the {} blocks of a cluster wait for each other's part of a row",
                       it.tiles.cluster);
  if (it.on_gpu()) return "threads wait for each other's part of a row before they go on";
  return it.work.reductions_in_turn > 1 ? "each takes another pass over the row"
                                        : "it takes another pass over the row";
}

Found reductions(const Evidence& it) {
  const int count = it.work.reductions_in_turn;
  if (!it.plan || (count == 0 && it.tiles.cluster == 1)) return std::nullopt;
  const std::string what = count == 0   ? "a reduction"
                           : count == 1 ? "a reduction whose result every element needs"
                                        : fmt::format("{} reductions in turn", count);
  return Cause{"reductions", fmt::format("Probably bound by {}: {}.", what, waiting_text(it))};
}

Found final_reduction(const Evidence& it) {
  if (!it.plan || !it.work.reduces) return std::nullopt;
  return Cause{"reductions",
               "Perhaps bound by its reduction, whose parts are put together at the end; nothing "
               "else that was recorded would explain it."};
}

Found hardly_writes(const Evidence& it) {
  if (!it.plan || it.work.written_share >= kHardlyWritten) return std::nullopt;
  return Cause{
      "inexact limit",
      "The copy is not an exact limit here: it writes half of its bytes, which a cache may "
      "take, and this case reads nearly all of them."};
}

// If the copy's bytes are in the cache, its time says little about fixed costs; the run's fastest
// row then gives the minimal cost of a call.
Found fixed_cost(const Evidence& it) {
  double least_us = it.row.timing->median_us;
  std::int64_t most_bytes = 0;
  for (const ResultRow& row : it.run.rows) {
    if (row.provider != "fused" || !row.timing || row.failed()) continue;
    least_us = std::min(least_us, row.timing->median_us);
    most_bytes = std::max(most_bytes, row.bytes_min);
  }
  if (it.row.timing->median_us > kNearlyTheLeast * least_us ||
      it.bytes() > kSmallBesideOthers * static_cast<double>(most_bytes))
    return std::nullopt;
  return Cause{"latency", fmt::format("Probably bound by latency and launch cost: it takes {}, and "
                                      "no row of this run takes less than {}.",
                                      time_text(it.row.timing->median_us), time_text(least_us))};
}

std::vector<Cause> causes_of(const Evidence& it) {
  std::vector<Cause> causes;
  const auto look = [&](auto... looks) {
    const auto one = [&](const Found& found) {
      if (found) causes.push_back(*found);
    };
    (one(looks(it)), ...);
  };
  look(disturbed, extra_traffic, several_passes, latency);
  const bool is_small = std::any_of(causes.begin(), causes.end(),
                                    [](const Cause& each) { return each.kind == "latency"; });
  if (!is_small) look(math, transposed);
  if (causes.empty()) look(fixed_cost);
  if (!is_small || it.on_gpu()) look(reductions);
  if (causes.empty()) look(hardly_writes);
  if (causes.empty()) look(final_reduction);
  if (causes.empty()) causes.push_back({"unexplained", "Nothing that was recorded explains it."});
  return causes;
}

const CasePlan* plan_of(const Results& results, const ResultRow& row) {
  const auto it =
      std::find_if(results.plans.begin(), results.plans.end(), [&](const CasePlan& plan) {
        return plan.case_name == row.case_name && plan.dtype == row.dtype &&
               std::find(plan.shapes.begin(), plan.shapes.end(), row.shape) != plan.shapes.end();
      });
  return it == results.plans.end() ? nullptr : &*it;
}

// For runs recorded before rows had `tiles`, those of the plan's first shape.
std::vector<std::string> tiles_of(const ResultRow& row, const CasePlan& plan) {
  if (!row.tiles.empty() || row.shape != plan.shapes.front()) return row.tiles;
  std::vector<std::string> tiles;
  for (const PlanKernel& kernel : plan.plan.kernels) tiles.push_back(kernel.tiles);
  return tiles;
}

FarRow far_row(const Results& results, const ResultRow& row) {
  const double ratio = row.limit_ratio->median;
  Evidence it{results, row};
  it.limit_us = row.limit_us.value_or(row.timing->median_us / ratio);
  it.plan = plan_of(results, row);
  if (it.plan) {
    it.work = work_of(*it.plan);
    it.tiles = facts_of(tiles_of(row, *it.plan));
  }
  return {row.case_name, row.shape, row.dtype, ratio, causes_of(it)};
}

}  // namespace

std::vector<FarRow> far_rows(const Results& results) {
  std::vector<FarRow> rows;
  for (const ResultRow& row : results.rows)
    if (row.provider == "fused" && row.timing && row.limit_ratio && !row.failed() &&
        !is_near_copy(row, near_copy_rule(results)))
      rows.push_back(far_row(results, row));
  return rows;
}

nlohmann::ordered_json to_json(const std::vector<FarRow>& rows) {
  auto json = nlohmann::ordered_json::array();
  for (const FarRow& row : rows) {
    auto causes = nlohmann::ordered_json::array();
    for (const Cause& cause : row.causes)
      causes.push_back({{"kind", cause.kind}, {"text", cause.text}});
    json.push_back({{"case", row.case_name},
                    {"shape", row.shape},
                    {"dtype", row.dtype},
                    {"ratio", row.ratio},
                    {"causes", std::move(causes)}});
  }
  return json;
}

}  // namespace sinter::suite
