// The tuning file's text: JSON that people can read; docs/TUNING.md shows one.
// In: text, changes. Out: choices that could be some candidate's, by GPU and group signature; why
// what else the text says is refused; the text with changes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

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

// The text with the changes; of an empty one, a new file's. Fields that this version does not know
// stay. The text is one that parse_tuning() does not refuse.
std::string changed_tuning(std::string_view text, const TuningChanges& changes);

}  // namespace sinter
