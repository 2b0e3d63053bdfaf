// The lowering table: one row per kernel family. A row says which groups the family can compute or
// why not, which configs are worth trying, how a config becomes a kernel, and which of its fields
// the tuning file stores. The planner, the tuner, explain() and the offline tools use only this
// table; docs/ADDING_A_FAMILY.md shows how to add a row.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/machine.h"
#include "src/lower/config.h"
#include "src/lower/iteration.h"
#include "src/lower/kernel.h"
#include "src/lower/rules.h"

namespace sinter {

// A family's answer for a group: configs with the best guess first, or the reason for a refusal.
struct Offer {
  std::vector<Config> configs;
  std::string refusal;
  std::vector<RuleText> rules;  // those that chose the first config; empty on a CPU
};
inline Offer refused(std::string reason) { return {{}, std::move(reason), {}}; }

enum class Wanted : std::uint8_t { best, all };

// One tunable number of a config, as the tuning file stores it. Numbers determined by the sizes
// alone are not stored, so that an entry also serves nearby sizes.
struct ConfigField {
  const char* name;
  std::int64_t (*get)(const Config& config);
  std::int64_t least = 0;
  std::int64_t most = 1;
  bool is_power = false;                    // must be a power of two
  bool follows_size = false;                // ignored when matching candidates for another size
  bool is_optional = false;                 // may be missing from the file; defaults to `least`
  bool is_flag = false;                     // written as true or false
  std::span<const char* const> words = {};  // if not empty: written as one of these words
};

struct Family {
  std::string_view name;
  // All configs of one family compute the same values. With `Wanted::best`, the offer may hold just
  // one config.
  Offer (*offer)(const IterationSpace& space, const Machine& machine, Wanted wanted);
  Kernel (*lower)(const Plan& plan, GroupId group, const IterationSpace& space,
                  const Config& config);
  // Whether two configs of the family produce the same bits.
  bool (*same_bits)(const Config& a, const Config& b);
  std::span<const ConfigField> fields;
  std::string (*describe)(const Config& config);  // "row (1, 4096), 128 threads, .."

  // Whether every program reads exactly the elements that it writes, before it writes them, so that
  // a result may replace an operand. Null: no config does.
  bool (*is_elementwise)(const Config& config) = nullptr;
  // For families that compute one node faster than any that could fuse it. Null: the family
  // competes for whole groups only.
  std::string_view (*runs_alone)(const Graph& graph, const Node& node, const View& result,
                                 const Machine& machine) = nullptr;
  // Why the family is preferred over later ones that also offer configs; for explain().
  std::string_view merit = "it was tried first";
};

// Indexed like the Config variant.
std::span<const Family> families();
const Family& family_of(const Config& config);
const Family* find_family(std::string_view name);  // null if there is none

bool is_elementwise(const Config& config);
// The rule for FusionOptions::runs_alone; null if no family on this machine needs one.
AloneRule alone_rule(const Machine& machine);
// Why the config's family computes the group rather than an earlier one of the table: the refusal
// of the one before it, or that it was measured to be faster.
std::string why_chosen(const IterationSpace& space, const Machine& machine, const Config& config);

// The heuristic's best guess for a group on a machine, and the rules that chose it.
Offer best_offer(const IterationSpace& space, const Machine& machine);
Config choose_config(const IterationSpace& space, const Machine& machine);

// All configs worth measuring, best guess first. `same_bits`: only configs that produce the same
// bits as the best guess.
std::vector<Config> candidate_configs(const IterationSpace& space, const Machine& machine,
                                      bool same_bits);

Kernel lower(const Plan& plan, GroupId group, const IterationSpace& space, const Config& config);

}  // namespace sinter
