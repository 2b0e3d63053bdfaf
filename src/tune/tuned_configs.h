// Where a group's config comes from: the tuning file where it has one that suits, else the
// heuristic. In: a group and its space. Out: the config and its origin, for explain().
#pragma once

#include <functional>
#include <string>

#include "src/lower/config.h"
#include "src/tune/tuning_file.h"

namespace sinter {

enum class ConfigOrigin : std::uint8_t {
  heuristic,
  tuned,
  unsuited,  // the heuristic's: what was tuned for this signature is no candidate at this size, or
             // would change bits that may not change
};

std::string_view name_of(ConfigOrigin origin);  // "heuristic", "tuned", "heuristic, tuned one .."

struct ChosenConfig {
  Config config;
  ConfigOrigin origin = ConfigOrigin::heuristic;
};

// Asked for each group of a plan, with its bytes.
using ConfigSource =
    std::function<ChosenConfig(const Plan& plan, int group, const IterationSpace& space)>;

ConfigSource heuristic_configs(const Machine& machine);

// `same_bits`: only configs that add in the heuristic's order. A tuning made under that promise
// and one made without it stand in for each other where they may. The store outlives the source.
ConfigSource tuned_configs(const TuningStore& store, std::string model, const Machine& machine,
                           bool same_bits);

}  // namespace sinter
