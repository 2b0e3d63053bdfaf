// The lowering table: one row for each family of kernels. A row says which groups the family can
// compute and if not why, which configs are worth trying, how a config becomes a kernel, and what
// the tuning file stores of it. The planner, the tuner, explain() and the offline tools use only
// this table; docs/ADDING_A_FAMILY.md shows how to add a row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/machine.h"
#include "src/lower/config.h"
#include "src/lower/iteration.h"
#include "src/lower/kernel.h"

namespace sinter {

// A family's answer for a group: configs with the best guess first, or the reason for a refusal.
struct Offer {
  std::vector<Config> configs;
  std::string refusal;
};

enum class Wanted : std::uint8_t { best, all };

// One number of a config that tuning decides, as the tuning file stores it. Numbers that follow
// from the sizes alone are not stored, so that an entry serves neighbouring sizes.
struct ConfigField {
  const char* name;
  std::int64_t (*get)(const Config& config);
  std::int64_t least = 0;
  std::int64_t most = 1;
  bool is_power = false;                    // of two
  bool follows_size = false;                // a candidate for another size may differ in it
  bool is_optional = false;                 // a file may leave it out: `least`
  bool is_flag = false;                     // written as true or false
  std::span<const char* const> words = {};  // not empty: written as one of these
};

struct Family {
  std::string_view name;
  // All offers of one family compute the same values; `Wanted::best` may return one config only.
  Offer (*offer)(const IterationSpace& space, const Machine& machine, Wanted wanted);
  Kernel (*lower)(const Plan& plan, int group, const IterationSpace& space, const Config& config);
  // Whether two configs of the family produce the same bits.
  bool (*same_bits)(const Config& a, const Config& b);
  std::span<const ConfigField> fields;
};

// By index of the Config variant.
std::span<const Family> families();
const Family& family_of(const Config& config);
const Family* find_family(std::string_view name);  // null if there is none

// The best guess for a group on a machine.
Config choose_config(const IterationSpace& space, const Machine& machine);

// Everything worth measuring, the best guess first. `same_bits`: only configs that produce the
// bits of the best guess.
std::vector<Config> candidate_configs(const IterationSpace& space, const Machine& machine,
                                      bool same_bits);

Kernel lower(const Plan& plan, int group, const IterationSpace& space, const Config& config);

}  // namespace sinter
