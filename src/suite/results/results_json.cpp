// Results as JSON and back. Each field is named once: a writer and a reader visit the same list.
#include "src/suite/results/results_json.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "src/base/check.h"
#include "src/base/json_nesting.h"
#include "src/suite/cases/case.h"

namespace sinter::suite {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 2;  // results.schema.json says the same

// Three digits after the point of a microsecond are a nanosecond: more is noise.
double rounded(double value) { return std::round(value * 1e3) / 1e3; }

class Writer {
 public:
  template <typename T>
  void operator()(const char* name, const T& value) {
    json[name] = value;
  }
  template <typename T>
  void operator()(const char* name, const std::optional<T>& value) {
    json[name] = value ? Json(*value) : Json(nullptr);
  }
  void time(const char* name, const std::optional<double>& value) {
    json[name] = value ? Json(rounded(*value)) : Json(nullptr);
  }
  // JSON has no NaN.
  void error(const char* name, const std::optional<double>& value) {
    (*this)(name, value);
    if (value && !std::isfinite(*value)) json[name] = std::isnan(*value) ? "nan" : "inf";
  }
  // Of files written since there is such a field.
  void newer(const char* name, const std::optional<std::int64_t>& value) { (*this)(name, value); }
  void list_if_any(const char* name, const std::vector<std::string>& list) {
    if (!list.empty()) json[name] = list;
  }
  // Left out where there is nothing to say.
  void text_if_any(const char* name, const std::string& text) {
    if (!text.empty()) json[name] = text;
  }

  Json json = Json::object();
};

// A field that is there, of the right type, and makes no sense.
class BadField : public std::runtime_error {
 public:
  BadField(const std::string& name, const char* what)
      : std::runtime_error(fmt::format("{} is {}", name, what)) {}
};

// Numbers beyond 63 bits are unsigned to the parser: read as signed they would be others.
template <typename T>
T whole_of(const char* name, const Json& json) {
  if (!json.is_number_integer()) throw BadField(name, "no whole number");
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                              : std::in_range<T>(json.get<std::int64_t>());
  if (!fits) throw BadField(name, "too large");
  return json.get<T>();
}

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  template <typename T>
  void operator()(const char* name, T& value) {
    read(name, json_.at(name), value);
  }
  template <typename T>
  void operator()(const char* name, std::optional<T>& value) {
    const Json& json = json_.at(name);
    value.reset();
    if (!json.is_null()) read(name, json, value.emplace());
  }
  void time(const char* name, std::optional<double>& value) {
    (*this)(name, value);
    if (value && !(std::isfinite(*value) && *value >= 0)) throw BadField(name, "no time");
  }
  void error(const char* name, std::optional<double>& value) {
    const Json& json = json_.at(name);
    if (!json.is_string()) return (*this)(name, value);
    using Limits = std::numeric_limits<double>;
    if (json != "nan" && json != "inf") throw BadField(name, "no number");
    value = json == "nan" ? Limits::quiet_NaN() : Limits::infinity();
  }
  void newer(const char* name, std::optional<std::int64_t>& value) {
    if (json_.contains(name)) (*this)(name, value);
  }
  void list_if_any(const char* name, std::vector<std::string>& list) {
    if (json_.contains(name)) json_.at(name).get_to(list);
  }
  void text_if_any(const char* name, std::string& text) { text = json_.value(name, ""); }

 private:
  template <typename T>
  static void read(const char* name, const Json& json, T& value) {
    // 1e300 is a number too, but no int.
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      value = whole_of<T>(name, json);
    } else {
      json.get_to(value);
    }
  }

  const Json& json_;
};

// The timing's fields stand in the row itself, all null where there is none.
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

template <typename Visitor, typename Node>
void visit_node(Visitor& at, Node& node, std::optional<int>& kernel) {
  at("id", node.id);
  at("op", node.op);
  at("detail", node.detail);
  at("kernel", kernel);
  at("output", node.is_output);
}

template <typename Visitor, typename Edge>
void visit_edge(Visitor& at, Edge& edge) {
  at("from", edge.from);
  at("to", edge.to);
  at("fused", edge.fused);
  at("reason", edge.reason);
  at("bytes", edge.bytes);
}

template <typename Visitor, typename Kernel>
void visit_kernel(Visitor& at, Kernel& kernel) {
  at("name", kernel.name);
  at("tiles", kernel.tiles);
  at("bytes_read", kernel.bytes_read);
  at("bytes_written", kernel.bytes_written);
  at("flops", kernel.flops);
  at("predicted_us", kernel.predicted_us);
}

Json case_plan_to_json(const CasePlan& each) {
  Json json{{"case", each.case_name}, {"dtype", each.dtype}, {"shapes", each.shapes}};
  json.update(plan_to_json(each.plan));
  return json;
}

CasePlan plan_from_json(const Json& json) {
  CasePlan each;
  json.at("case").get_to(each.case_name);
  json.at("dtype").get_to(each.dtype);
  json.at("shapes").get_to(each.shapes);
  for (const Json& node : json.at("nodes")) {
    Reader reader(node);
    std::optional<int> kernel;
    visit_node(reader, each.plan.nodes.emplace_back(), kernel);
    each.plan.nodes.back().kernel = kernel.value_or(-1);
  }
  for (const Json& edge : json.at("edges")) {
    Reader reader(edge);
    visit_edge(reader, each.plan.edges.emplace_back());
  }
  for (const Json& kernel : json.at("kernels")) {
    Reader reader(kernel);
    visit_kernel(reader, each.plan.kernels.emplace_back());
  }
  return each;
}

Json meta_to_json(const Results& results) {
  Writer meta;
  visit_meta(meta, results);
  Json not_run = Json::array();
  for (const PendingCase& each : pending_cases())
    not_run.push_back({{"case", each.name}, {"reason", each.reason}});
  meta("not_run", not_run);
  return std::move(meta.json);
}

Results results_from_json(const Json& json) {
  Results results;
  Reader meta(json.at("meta"));
  visit_meta(meta, results);
  for (const Json& row : json.at("rows")) results.rows.push_back(row_from_json(row));
  for (const Json& plan : json.at("plans")) results.plans.push_back(plan_from_json(plan));
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
  Writer writer;
  const FlatTiming timing = flat(row);
  visit_row(writer, row, timing);
  return std::move(writer.json);
}

ResultRow row_from_json(const Json& json) {
  Reader reader(json);
  ResultRow row;
  FlatTiming timing;
  visit_row(reader, row, timing);
  row.timing = timing_of(timing);
  row.limit_ratio = limit_ratio_of(timing);
  return row;
}

Json plan_to_json(const PlanInfo& plan) {
  Json json = Json::object();
  for (const char* list : {"nodes", "edges", "kernels"}) json[list] = Json::array();
  for (const PlanNode& node : plan.nodes) {
    Writer writer;
    std::optional<int> kernel;
    if (node.kernel >= 0) kernel = node.kernel;
    visit_node(writer, node, kernel);
    json["nodes"].push_back(std::move(writer.json));
  }
  for (const PlanEdge& edge : plan.edges) {
    Writer writer;
    visit_edge(writer, edge);
    json["edges"].push_back(std::move(writer.json));
  }
  for (const PlanKernel& kernel : plan.kernels) {
    Writer writer;
    visit_kernel(writer, kernel);
    json["kernels"].push_back(std::move(writer.json));
  }
  return json;
}

std::string to_json(const Results& results, int indent) {
  Json json{{"format", kFormat}, {"meta", meta_to_json(results)}};
  json["rows"] = Json::array();
  for (const ResultRow& row : results.rows) json["rows"].push_back(row_to_json(row));
  json["plans"] = Json::array();
  for (const CasePlan& plan : results.plans) json["plans"].push_back(case_plan_to_json(plan));
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

Results from_json(const std::string& text, const std::string& source) {
  try {
    if (json_nesting(text) > kMostJsonNesting)
      fail_user("suite", "{} is no results.json of sinter suite: it is nested too deep", source);
    const Json json = Json::parse(text);
    const int format = json.contains("format") ? whole_of<int>("format", json.at("format")) : 0;
    if (format != kFormat)
      fail_user("suite",
                "{} has format {}, this version of Sinter reads {}: measure again with this one",
                source, format, kFormat);
    return results_from_json(json);
  } catch (const Json::exception& error) {
    fail_user("suite", "{} is no results.json of sinter suite: {}", source, error.what());
  } catch (const BadField& error) {
    fail_user("suite", "{} is damaged: {}", source, error.what());
  }
}

}  // namespace sinter::suite
