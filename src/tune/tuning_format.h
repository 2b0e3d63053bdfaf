// The text of the tuning file: readable JSON; docs/TUNING.md shows one. In: text, changes. Out:
// valid choices by GPU and group signature; why the rest was refused; the changed text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "src/tune/choice.h"

namespace sinter {

struct TunedEntry {
  TunedChoice choice;
  double us = 0;            // launch time with it, cold L2
  double heuristic_us = 0;  // the heuristic's, measured in turns with it
  std::string config;       // for readers: to_string() of both configs as measured
  std::string heuristic;
  std::string date;     // of the measurement, "2026-11-15"
  std::string version;  // of Sinter
  friend bool operator==(const TunedEntry&, const TunedEntry&) = default;
};

// Entries that must not change bits are kept beside those that may.
struct TuningKey {
  std::string model;      // Device::model()
  std::string signature;  // group_signature()
  bool same_bits = false;
  friend auto operator<=>(const TuningKey&, const TuningKey&) = default;
};

using TuningTable = std::map<TuningKey, TunedEntry>;

// `refusal`: why nothing in the file is used; `refused`: number of unusable entries,
// `first_refused` names the first and the reason.
struct ParsedTuning {
  TuningTable table;
  std::string refusal;
  bool is_newer = false;  // refused only because of its version
  int refused = 0;
  std::string first_refused;
};
ParsedTuning parse_tuning(std::string_view text);

// nullopt: the heuristic is best, and the file's entry is removed.
using TuningChanges = std::map<TuningKey, std::optional<TunedEntry>>;

// The text with the changes applied; for an empty text, a new file. Fields this version does not
// know are kept. `text` must be accepted by parse_tuning().
std::string changed_tuning(std::string_view text, const TuningChanges& changes);

}  // namespace sinter
