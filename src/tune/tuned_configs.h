// Selects a group's config: from the tuning file if it has a suitable one, else from the heuristic.
// In: a group and its space. Out: the config and its origin, for explain().
#pragma once

#include <functional>
#include <string>

#include "src/lower/family.h"
#include "src/tune/tuning_file.h"

namespace sinter {

enum class ConfigOrigin : std::uint8_t {
  heuristic,
  tuned,
  // The heuristic's: the tuned entry is not a candidate at this size, or would change bits that
  // must not change.
  unsuited,
};

std::string_view name_of(ConfigOrigin origin);  // "heuristic", "tuned", "heuristic, tuned one .."

struct ChosenConfig {
  Config config;
  ConfigOrigin origin = ConfigOrigin::heuristic;
};

// Called for each group of a plan.
using ConfigSource =
    std::function<ChosenConfig(const Plan& plan, GroupId group, const IterationSpace& space)>;

ConfigSource heuristic_configs(const Machine& machine);

// `same_bits` allows only configs that sum in the heuristic's order. An entry tuned with that
// restriction and one tuned without can replace each other where permitted. The store must outlive
// the source.
ConfigSource tuned_configs(const TuningStore& store, std::string model, const Machine& machine,
                           bool same_bits);

}  // namespace sinter
