// {"sinter_tuning": 1, "devices": {MODEL: {SIGNATURE: {"form": "row", "threads": 128, ..}}}}
// Changes are applied to the file's own JSON, so that unknown fields are kept.
#include "src/tune/tuning_format.h"

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "src/base/check.h"
#include "src/base/json_syntax.h"
#include "src/base/printable.h"

namespace sinter {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kVersionField[] = "sinter_tuning";
constexpr int kVersion = 1;
constexpr char kSameBits[] = " (same bits)";  // suffix of such an entry's signature

struct BadEntry {
  std::string reason;
};

std::int64_t whole_of(const Json& value, const ConfigField& field) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<std::uint64_t>() > 1 << 30))
    throw BadEntry{fmt::format("{} is not an integer in range", field.name)};
  const auto number = value.get<std::int64_t>();
  if (std::string refusal = refusal_of(field, number); !refusal.empty())
    throw BadEntry{std::move(refusal)};
  return number;
}

std::int64_t flag_of(const Json& value, const ConfigField& field) {
  if (!value.is_boolean()) throw BadEntry{fmt::format("{} is neither true nor false", field.name)};
  return value.get<bool>() ? 1 : 0;
}

std::int64_t word_of(const Json& value, const ConfigField& field) {
  const std::string word = value.is_string() ? value.get<std::string>() : "";
  for (std::size_t i = 0; i < field.words.size(); ++i)
    if (word == field.words[i]) return static_cast<std::int64_t>(i);
  throw BadEntry{fmt::format("there is no {} '{}'", field.name, printable(word, 32))};
}

std::int64_t value_of(const Json& entry, const ConfigField& field) {
  const auto it = entry.find(field.name);
  if (it == entry.end()) {
    if (field.is_optional) return field.least;
    throw BadEntry{fmt::format("{} is missing", field.name)};
  }
  if (field.is_flag) return flag_of(*it, field);
  return field.words.empty() ? whole_of(*it, field) : word_of(*it, field);
}

double microseconds_of(const Json& entry, const char* field) {
  const auto it = entry.find(field);
  if (it == entry.end() || !it->is_number()) return 0;
  const auto value = it->get<double>();
  return std::isfinite(value) && value >= 0 ? value : 0;
}

std::string text_of(const Json& entry, const char* field) {
  const auto it = entry.find(field);
  return it != entry.end() && it->is_string() ? it->get<std::string>() : "";
}

TunedChoice choice_from(const Json& entry) {
  const std::string name = text_of(entry, "form");
  const Family* family = find_family(name);
  if (!family) throw BadEntry{fmt::format("there is no form '{}'", printable(name, 32))};
  TunedChoice choice{name, {}};
  for (const ConfigField& field : family->fields) choice.values.push_back(value_of(entry, field));
  return choice;
}

TunedEntry entry_from(const Json& json) {
  if (!json.is_object()) throw BadEntry{"it is not an object"};
  TunedEntry entry;
  entry.choice = choice_from(json);
  entry.us = microseconds_of(json, "us");
  entry.heuristic_us = microseconds_of(json, "heuristic_us");
  entry.config = text_of(json, "config");
  entry.heuristic = text_of(json, "heuristic");
  entry.date = text_of(json, "date");
  entry.version = text_of(json, "sinter");
  return entry;
}

double rounded(double us) { return std::round(us * 1e3) / 1e3; }

Json to_json(const ConfigField& field, std::int64_t value) {
  if (field.is_flag) return value != 0;
  if (field.words.empty()) return value;
  return field.words[static_cast<std::size_t>(value)];
}

Json to_json(const TunedEntry& entry) {
  Json json{{"form", entry.choice.family}};
  const std::span<const ConfigField> fields = find_family(entry.choice.family)->fields;
  for (std::size_t i = 0; i < fields.size(); ++i)
    json[fields[i].name] = to_json(fields[i], entry.choice.values[i]);
  json["us"] = rounded(entry.us);
  json["heuristic_us"] = rounded(entry.heuristic_us);
  json["config"] = entry.config;
  json["heuristic"] = entry.heuristic;
  json["date"] = entry.date;
  json["sinter"] = entry.version;
  return json;
}

std::string field_of(const TuningKey& key) {
  return key.same_bits ? key.signature + kSameBits : key.signature;
}

TuningKey key_of(const std::string& model, std::string field) {
  const bool same_bits = field.ends_with(kSameBits);
  if (same_bits) field.resize(field.size() - std::strlen(kSameBits));
  return {model, std::move(field), same_bits};
}

// nullopt, with the reason in `parsed`, if it cannot be used.
std::optional<Json> document_of(std::string_view text, ParsedTuning& parsed) {
  parsed.refusal = json_syntax_error(text);
  if (!parsed.refusal.empty()) return std::nullopt;
  Json json = Json::parse(text.begin(), text.end());
  if (!json.is_object()) {
    parsed.refusal = "expected a JSON object";
    return std::nullopt;
  }
  const auto version = json.find(kVersionField);
  if (version == json.end() || !version->is_number_integer()) {
    parsed.refusal = fmt::format("{} does not say its version", kVersionField);
    return std::nullopt;
  }
  if (*version != kVersion) {
    parsed.refusal =
        fmt::format("its version is {}, this Sinter knows {}", version->dump(), kVersion);
    parsed.is_newer = true;
    return std::nullopt;
  }
  if (const auto devices = json.find("devices"); devices == json.end() || !devices->is_object()) {
    parsed.refusal = "it has no object 'devices'";
    return std::nullopt;
  }
  return json;
}

void take_entry(const TuningKey& key, const Json& json, ParsedTuning& parsed) {
  try {
    parsed.table[key] = entry_from(json);
  } catch (const BadEntry& bad) {
    if (parsed.refused++ == 0)
      parsed.first_refused = fmt::format("'{}': {}", printable(field_of(key), 80), bad.reason);
  }
}

void apply(const TuningChanges& changes, Json& json) {
  for (const auto& [key, entry] : changes) {
    Json& device = json["devices"][key.model];
    if (!device.is_object()) device = Json::object();
    if (entry)
      device[field_of(key)] = to_json(*entry);
    else
      device.erase(field_of(key));
    if (device.empty()) json["devices"].erase(key.model);
  }
}

}  // namespace

ParsedTuning parse_tuning(std::string_view text) {
  ParsedTuning parsed;
  const std::optional<Json> json = document_of(text, parsed);
  if (!json) return parsed;
  for (const auto& [model, entries] : json->at("devices").items()) {
    if (!entries.is_object()) {
      if (parsed.refused++ == 0)
        parsed.first_refused = fmt::format("device '{}' is not an object", printable(model, 80));
      continue;
    }
    for (const auto& [field, entry] : entries.items())
      take_entry(key_of(model, field), entry, parsed);
  }
  return parsed;
}

std::string changed_tuning(std::string_view text, const TuningChanges& changes) {
  Json json{{kVersionField, kVersion}, {"devices", Json::object()}};
  if (!text.empty()) {
    ParsedTuning parsed;
    std::optional<Json> before = document_of(text, parsed);
    SINTER_ASSERT(before, "{}", parsed.refusal);
    json = *std::move(before);
  }
  apply(changes, json);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sinter
