// The tuning file: what was measured to be faster than the heuristic's choice, by GPU and by group
// signature, as JSON that people can read. docs/TUNING.md shows one.
// In: a path. Out: choices that could be some candidate's; what else the file says is refused with
// one warning, and the heuristic is used. A choice is only ever used where it equals a candidate.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/tune/choice.h"

namespace sinter {

struct TunedEntry {
  TunedChoice choice;
  double us = 0;            // a launch with it, L2 cold
  double heuristic_us = 0;  // in turns with it
  std::string config;       // for people: to_string() of both configs where it was measured
  std::string heuristic;
  std::string date;     // of the measurement, "2026-11-15"
  std::string version;  // of Sinter
  friend bool operator==(const TunedEntry&, const TunedEntry&) = default;
};

// A tuning that may not change bits is kept beside one that may.
struct TuningKey {
  std::string model;      // Device::model()
  std::string signature;  // group_signature()
  bool same_bits = false;
  friend auto operator<=>(const TuningKey&, const TuningKey&) = default;
};

using TuningTable = std::map<TuningKey, TunedEntry>;

// What a file's text says. `refusal`: why nothing of it is used; `refused`: entries that are not,
// the first with its reason in `first_refused`.
struct ParsedTuning {
  TuningTable table;
  std::string refusal;
  bool is_newer = false;  // refused because of its version alone
  int refused = 0;
  std::string first_refused;
};
ParsedTuning parse_tuning(std::string_view text);

// Nothing: the heuristic is best, what the file has of it goes.
using TuningChanges = std::map<TuningKey, std::optional<TunedEntry>>;

// The file as one process sees it: read when first asked for, safe from many threads.
class TuningStore {
 public:
  explicit TuningStore(std::string path) : path_(std::move(path)) {}  // empty: there is no file

  std::optional<TunedEntry> find(const TuningKey& key) const;
  bool has_model(const std::string& model) const;
  std::size_t size() const;

  // Changes the file and what find() says. What others wrote meanwhile, and fields that this
  // version does not know, stay. A damaged file is kept as PATH.damaged. UserError, IoError.
  void put(const TuningChanges& changes);
  // UserError where put() could not work: said before minutes are spent.
  void check_writable() const;

  const std::string& path() const { return path_; }

 private:
  const TuningTable& table() const;  // under the lock

  std::string path_;
  mutable std::mutex mutex_;
  mutable std::optional<TuningTable> table_;
};

// $SINTER_TUNING_FILE, else tuning.json in the cache's directory.
std::string tuning_path();
TuningStore& environment_tuning();  // of that file

}  // namespace sinter
