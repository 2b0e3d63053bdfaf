// {"sinter_tuning": 1, "devices": {MODEL: {SIGNATURE: {"form": "row", "threads": 128, ..}}}}
// A change is made to the file's JSON as it is: what this version does not know stays in it.
#include "src/tune/tuning_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "src/base/atomic_file.h"
#include "src/base/check.h"
#include "src/base/options.h"

namespace sinter {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kTag[] = "tune";
constexpr char kVersionField[] = "sinter_tuning";
constexpr int kVersion = 1;
constexpr char kSameBits[] = " (same bits)";  // ends the signature of such an entry
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::array<const char*, 4> kForms = {"pointwise", "row", "chunked", "column"};

// --- one entry

struct BadEntry {
  std::string reason;
};

std::int64_t whole_of(const Json& entry, const char* field, std::int64_t least = 1) {
  const auto it = entry.find(field);
  if (it == entry.end()) throw BadEntry{fmt::format("{} is missing", field)};
  if (!it->is_number_integer() || (it->is_number_unsigned() && it->get<std::uint64_t>() > 1 << 30))
    throw BadEntry{fmt::format("{} is no whole number of that size", field)};
  const auto value = it->get<std::int64_t>();
  if (value < least || value > 1 << 30)
    throw BadEntry{fmt::format("{} is {}, not from {} on", field, value, least)};
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
  throw BadEntry{fmt::format("there is no form '{}'", name.substr(0, 32))};
}

TunedEntry entry_from(const Json& json) {
  if (!json.is_object()) throw BadEntry{"it is no object"};
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
  choice.stream_loads = flag_of(json, "stream_loads");
  choice.stream_stores = flag_of(json, "stream_stores");
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
          {"stream_loads", choice.stream_loads},
          {"stream_stores", choice.stream_stores},
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

// --- the whole file

// Nothing, and why in `parsed`, where it cannot be used.
std::optional<Json> document_of(std::string_view text, ParsedTuning& parsed) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    parsed.refusal = "it is no JSON object";
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
      parsed.first_refused = fmt::format("'{}': {}", field_of(key).substr(0, 80), bad.reason);
  }
}

// Empty where there is none. `refusal`: why it is not read.
std::string read_text(const std::string& path, std::string& refusal) {
  // O_NONBLOCK: a fifo must not hold us up.
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOENT && errno != ENOTDIR) refusal = std::strerror(errno);
    return "";
  }
  std::string text;
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    refusal = "it is no file";
  } else if (static_cast<std::size_t>(info.st_size) > kMostBytes) {
    refusal = fmt::format("it has {} bytes", info.st_size);
  } else {
    text.resize(static_cast<std::size_t>(info.st_size));
    const ssize_t got = ::read(fd, text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (text.empty()) refusal = "it is empty";
  }
  ::close(fd);
  return text;
}

ParsedTuning read_tuning(const std::string& path) {
  ParsedTuning parsed;
  if (path.empty()) return parsed;
  const std::string text = read_text(path, parsed.refusal);
  return text.empty() ? parsed : parse_tuning(text);
}

// Held for as long as the file is being changed.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : fd_(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (fd_ < 0) fail_user(kTag, "cannot write {}.lock: {}", path, std::strerror(errno));
    while (flock(fd_, LOCK_EX) != 0)
      if (errno != EINTR) break;  // a file system without locks: the last writer wins
  }
  ~FileLock() { ::close(fd_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

Json empty_document() { return {{kVersionField, kVersion}, {"devices", Json::object()}}; }

void fail_if_newer(const std::string& path, const ParsedTuning& parsed) {
  if (parsed.is_newer)
    fail_user(kTag, "{} is not overwritten: {}; set SINTER_TUNING_FILE to another path", path,
              parsed.refusal);
}

// The file's JSON, or an empty one in its place.
Json document_to_change(const std::string& path) {
  ParsedTuning parsed;
  const std::string text = read_text(path, parsed.refusal);
  std::optional<Json> json;
  if (!text.empty()) json = document_of(text, parsed);
  if (json) return *std::move(json);
  fail_if_newer(path, parsed);
  if (!parsed.refusal.empty()) std::rename(path.c_str(), (path + ".damaged").c_str());
  return empty_document();
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
        parsed.first_refused = fmt::format("device '{}' is no object", model.substr(0, 80));
      continue;
    }
    for (const auto& [field, entry] : entries.items())
      take_entry(key_of(model, field), entry, parsed);
  }
  return parsed;
}

const TuningTable& TuningStore::table() const {
  if (table_) return *table_;
  ParsedTuning parsed = read_tuning(path_);
  if (!parsed.refusal.empty())
    warn_once(fmt::format("the tuning file {} is not used: {}", path_, parsed.refusal));
  else if (parsed.refused > 0)
    warn_once(
        fmt::format("{} of the tuning file {} {} not used, {}",
                    parsed.refused == 1 ? "one entry" : fmt::format("{} entries", parsed.refused),
                    path_, parsed.refused == 1 ? "is" : "are", parsed.first_refused));
  table_ = std::move(parsed.table);
  return *table_;
}

std::optional<TunedEntry> TuningStore::find(const TuningKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = table().find(key);
  return it == table().end() ? std::nullopt : std::optional(it->second);
}

bool TuningStore::has_model(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  const auto it = table().lower_bound({model, "", false});
  return it != table().end() && it->first.model == model;
}

std::size_t TuningStore::size() const {
  const std::lock_guard lock(mutex_);
  return table().size();
}

void TuningStore::check_writable() const {
  if (path_.empty())
    fail_user(kTag, "there is no place for the tuning file: set SINTER_TUNING_FILE or HOME");
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  if (!folder.empty()) make_directory(kTag, folder);
  const FileLock lock(path_);
  fail_if_newer(path_, read_tuning(path_));
}

void TuningStore::put(const TuningChanges& changes) {
  if (changes.empty()) return;
  check_writable();
  const std::lock_guard guard(mutex_);
  const FileLock lock(path_);
  Json json = document_to_change(path_);
  apply(changes, json);
  const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  write_file_atomically(kTag, path_, text);
  table_ = parse_tuning(text).table;
}

std::string tuning_path() {
  const Options& options = environment_options();
  if (!options.tuning_file.empty()) return options.tuning_file;
  return options.cache_dir.empty() ? "" : options.cache_dir + "/tuning.json";
}

// Never destroyed: programs may be built while the process ends.
TuningStore& environment_tuning() {
  static TuningStore& store = *new TuningStore(tuning_path());
  return store;
}

}  // namespace sinter
