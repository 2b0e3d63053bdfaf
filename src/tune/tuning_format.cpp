// {"sinter_tuning": 1, "devices": {MODEL: {SIGNATURE: {"form": "row", "threads": 128, ..}}}}
// Changes are applied to the file's own JSON, so that unknown fields are kept.
#include "src/tune/tuning_format.h"

#include <array>
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
constexpr std::array<const char*, 4> kForms = {"pointwise", "row", "chunked", "column"};

struct BadEntry {
  std::string reason;
};

std::int64_t whole_of(const Json& entry, const char* field, std::int64_t least = 1) {
  const auto it = entry.find(field);
  if (it == entry.end()) throw BadEntry{fmt::format("{} is missing", field)};
  if (!it->is_number_integer() || (it->is_number_unsigned() && it->get<std::uint64_t>() > 1 << 30))
    throw BadEntry{fmt::format("{} is not an integer in range", field)};
  const auto value = it->get<std::int64_t>();
  if (value < least || value > 1 << 30)
    throw BadEntry{fmt::format("{} is {}, expected at least {}", field, value, least)};
  return value;
}

bool flag_of(const Json& entry, const char* field) {
  const auto it = entry.find(field);
  if (it == entry.end()) return false;
  if (!it->is_boolean()) throw BadEntry{fmt::format("{} is neither true nor false", field)};
  return it->get<bool>();
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

Form form_of(const Json& entry) {
  const std::string name = text_of(entry, "form");
  for (std::size_t i = 0; i < kForms.size(); ++i)
    if (name == kForms[i]) return static_cast<Form>(i);
  throw BadEntry{fmt::format("there is no form '{}'", printable(name, 32))};
}

tile::Caching caching_of(const Json& entry) {
  if (!entry.contains("caching")) throw BadEntry{"caching is missing"};
  const std::string name = text_of(entry, "caching");
  for (const tile::Caching caching :
       {tile::Caching::any, tile::Caching::results, tile::Caching::operands})
    if (name == name_of(caching)) return caching;
  throw BadEntry{fmt::format("there is no caching '{}'", printable(name, 32))};
}

TunedEntry entry_from(const Json& json) {
  if (!json.is_object()) throw BadEntry{"it is not an object"};
  TunedEntry entry;
  TunedChoice& choice = entry.choice;
  choice.form = form_of(json);
  choice.threads = static_cast<int>(whole_of(json, "threads"));
  choice.threads_per_row = static_cast<int>(whole_of(json, "threads_per_row"));
  choice.vector = static_cast<int>(whole_of(json, "vector"));
  choice.cluster = static_cast<int>(whole_of(json, "cluster"));
  choice.tile_rows = whole_of(json, "tile_rows");
  choice.vectors = whole_of(json, "vectors");
  choice.blocks_at_once = static_cast<int>(whole_of(json, "blocks_at_once", 0));
  if (json.contains("ahead")) choice.ahead = static_cast<int>(whole_of(json, "ahead", 0));
  choice.caching = caching_of(json);
  choice.online = flag_of(json, "online");
  if (const std::string refusal = refusal_of(choice); !refusal.empty()) throw BadEntry{refusal};
  entry.us = microseconds_of(json, "us");
  entry.heuristic_us = microseconds_of(json, "heuristic_us");
  entry.config = text_of(json, "config");
  entry.heuristic = text_of(json, "heuristic");
  entry.date = text_of(json, "date");
  entry.version = text_of(json, "sinter");
  return entry;
}

double rounded(double us) { return std::round(us * 1e3) / 1e3; }

Json to_json(const TunedEntry& entry) {
  const TunedChoice& choice = entry.choice;
  return {{"form", kForms[static_cast<std::size_t>(choice.form)]},
          {"threads", choice.threads},
          {"threads_per_row", choice.threads_per_row},
          {"vector", choice.vector},
          {"cluster", choice.cluster},
          {"tile_rows", choice.tile_rows},
          {"vectors", choice.vectors},
          {"blocks_at_once", choice.blocks_at_once},
          {"ahead", choice.ahead},
          {"caching", name_of(choice.caching)},
          {"online", choice.online},
          {"us", rounded(entry.us)},
          {"heuristic_us", rounded(entry.heuristic_us)},
          {"config", entry.config},
          {"heuristic", entry.heuristic},
          {"date", entry.date},
          {"sinter", entry.version}};
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
