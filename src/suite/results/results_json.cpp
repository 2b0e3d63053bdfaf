// Results as JSON and back. Each field is named once, in a visit function for writing and reading.
#include "src/suite/results/results_json.h"

#include <utility>

#include "src/base/check.h"
#include "src/base/json_syntax.h"
#include "src/base/printable.h"
#include "src/suite/cases/case.h"
#include "src/suite/results/json_fields.h"
#include "src/suite/results/plan_json.h"

namespace sinter::suite {
namespace {

constexpr int kFormat = 2;  // also in results.schema.json

// The timing's fields are part of the row's object, all null if there is no timing.
struct FlatTiming {
  std::optional<double> median_us, p20_us, p80_us, min_us;
  std::optional<int> samples;
  std::optional<double> ratio, ratio_p20, ratio_p80;
};

FlatTiming flat(const ResultRow& row) {
  FlatTiming flat;
  if (row.timing) {
    flat.median_us = row.timing->median_us;
    flat.p20_us = row.timing->p20_us;
    flat.p80_us = row.timing->p80_us;
    flat.min_us = row.timing->min_us;
    flat.samples = row.timing->samples;
  }
  if (row.limit_ratio) {
    flat.ratio = row.limit_ratio->median;
    flat.ratio_p20 = row.limit_ratio->p20;
    flat.ratio_p80 = row.limit_ratio->p80;
  }
  return flat;
}

std::optional<LimitRatio> limit_ratio_of(const FlatTiming& flat) {
  if (!flat.ratio) return std::nullopt;
  if (*flat.ratio <= 0) throw BadField("limit_ratio", "not above 0");
  return LimitRatio{*flat.ratio, flat.ratio_p20.value_or(*flat.ratio),
                    flat.ratio_p80.value_or(*flat.ratio)};
}

std::optional<BenchResult> timing_of(const FlatTiming& timing) {
  if (!timing.median_us) return std::nullopt;
  if (*timing.median_us <= 0) throw BadField("median_us", "not above 0");
  const double median = *timing.median_us;
  BenchResult result;
  result.median_us = median;
  result.p20_us = timing.p20_us.value_or(median);
  result.p80_us = timing.p80_us.value_or(median);
  result.min_us = timing.min_us.value_or(median);
  result.samples = timing.samples.value_or(1);
  return result;
}

// "4096x128"; a program may have any number of sizes.
bool is_shape_text(std::string_view text) {
  constexpr std::size_t kMostDigits = 18;  // in 64 bits
  std::size_t digits = 0;
  for (const char each : text) {
    if (each == 'x' ? digits == 0 : each < '0' || each > '9' || digits == kMostDigits) return false;
    digits = each == 'x' ? 0 : digits + 1;
  }
  return digits > 0;
}

template <typename Visitor, typename Row, typename Timing>
void visit_row(Visitor& at, Row& row, Timing& timing) {
  at("case", row.case_name);
  at("shape", row.shape);
  at("dtype", row.dtype);
  at("device", row.device);
  at("provider", row.provider);
  at.time("median_us", timing.median_us);
  at.time("p20_us", timing.p20_us);
  at.time("p80_us", timing.p80_us);
  at.time("min_us", timing.min_us);
  at("samples", timing.samples);
  at("visits", row.visits);
  at.time("limit_us", row.limit_us);
  at.time("limit_ratio", timing.ratio);
  at.time("limit_ratio_p20", timing.ratio_p20);
  at.time("limit_ratio_p80", timing.ratio_p80);
  at.time("call_us", row.call_us);
  at("bytes_min", row.bytes_min);
  at("bytes_planned", row.bytes_planned);
  at("bytes_measured", row.bytes_measured);
  at("buffer_bytes", row.buffer_bytes);
  at.time("compile_ms", row.compile_ms);
  at("kernels_from_disk", row.kernels_from_disk);
  at("kernels", row.kernels);
  at.error("max_abs_err", row.max_abs_err);
  at.error("max_rel_err", row.max_rel_err);
  at("tolerance", row.tolerance);
  at("checked_elements", row.checked_elements);
  at("flops", row.flops);
  at("instructions", row.instructions);
  at("peak_bytes", row.peak_bytes);
  at.newer("bytes_transposed", row.bytes_transposed);
  at.list_if_any("tiles", row.tiles);
  at.text_if_any("error", row.error);
  at.text_if_any("skipped", row.skipped);
  at("reasons", row.reasons);
}

template <typename Visitor, typename Run>
void visit_meta(Visitor& at, Run& results) {
  at("date", results.date);
  at("device", results.device);
  at("description", results.description);
  at("commit", results.commit);
  at("command_line", results.command_line);
  at("version", results.version);
  at("versions", results.versions);
  at("seconds", results.seconds);
  at("copy_bytes_per_s", results.copy_bytes_per_s);
  at("peak_flops_per_s", results.peak_flops_per_s);
  at("interrupted", results.interrupted);
  at("notes", results.notes);
}

template <typename Visitor, typename Set>
void visit_random(Visitor& at, Set& set) {
  at("seed", set.seed);
  at("cells", set.cells);
  at("cases", set.cases);
  at("dtypes", set.dtypes);
  at("most_elements", set.most_elements);
  at("most_bytes", set.most_bytes);
}

Json meta_to_json(const Results& results) {
  JsonWriter meta;
  visit_meta(meta, results);
  if (results.random) {
    JsonWriter random;
    visit_random(random, *results.random);
    meta("random", random.json);
  }
  Json not_run = Json::array();
  for (const PendingCase& each : pending_cases())
    not_run.push_back({{"case", each.name}, {"reason", each.reason}});
  meta("not_run", not_run);
  return std::move(meta.json);
}

// Calls read(item) for each item of the list; errors name the item, counting from 1.
template <typename Read>
void for_each_item(const Json& json, const char* list, const char* item_name, const Read& read) {
  int number = 0;
  for (const Json& item : list_of(json, list)) {
    ++number;
    try {
      read(item);
    } catch (const BadField& error) {
      throw BadField(fmt::format("{} {}: {}", item_name, number, error.what()));
    }
  }
}

Results results_from_json(const Json& json) {
  Results results;
  JsonReader meta(field_of(json, "meta"));
  visit_meta(meta, results);
  if (const Json& fields = field_of(json, "meta"); fields.contains("random")) {
    JsonReader random(field_of(fields, "random"));
    visit_random(random, results.random.emplace());
  }
  for_each_item(json, "rows", "row",
                [&](const Json& row) { results.rows.push_back(row_from_json(row)); });
  for_each_item(json, "plans", "plan",
                [&](const Json& plan) { results.plans.push_back(case_plan_from_json(plan)); });
  return results;
}

}  // namespace

void ResultRow::explain_missing() {
  const std::string why = !skipped.empty() ? "the row was skipped: " + skipped
                          : !error.empty() ? "the row failed: " + error
                                           : "";
  if (why.empty()) return;
  const Json json = row_to_json(*this);
  for (const auto& [name, value] : json.items())
    if (value.is_null()) reasons.try_emplace(name, why);
}

Json row_to_json(const ResultRow& row) {
  JsonWriter writer;
  const FlatTiming timing = flat(row);
  visit_row(writer, row, timing);
  return std::move(writer.json);
}

ResultRow row_from_json(const Json& json) {
  JsonReader reader(json);
  ResultRow row;
  FlatTiming timing;
  visit_row(reader, row, timing);
  if (!is_shape_text(row.shape))
    throw BadField("shape", fmt::format("'{}', not ROWSxCOLS", printable(row.shape, 40)));
  row.timing = timing_of(timing);
  row.limit_ratio = limit_ratio_of(timing);
  return row;
}

std::string to_json(const Results& results, int indent) {
  Json json{{"format", kFormat}, {"meta", meta_to_json(results)}};
  json["rows"] = Json::array();
  for (const ResultRow& row : results.rows) json["rows"].push_back(row_to_json(row));
  json["plans"] = Json::array();
  for (const CasePlan& plan : results.plans) json["plans"].push_back(case_plan_to_json(plan));
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

Results from_json(const std::string& text, const std::string& source, std::string_view op) {
  if (const std::string error = json_syntax_error(text); !error.empty())
    fail_user(op, "{} is not a results.json of sinter suite: {}", source, error);
  try {
    const Json json = Json::parse(text);
    const int format = json.contains("format") ? integer_of<int>("format", json.at("format")) : 0;
    if (format != kFormat)
      fail_user(op,
                "{} has format {}, this version of Sinter reads {}: measure again with this one",
                source, format, kFormat);
    return results_from_json(json);
  } catch (const BadField& error) {
    fail_user(op, "{} is damaged: {}", source, error.what());
  }
}

}  // namespace sinter::suite
