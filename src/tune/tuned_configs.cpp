// A choice from the file is matched against the candidates of the actual space: at worst it is
// slow, but never a config the tuner could not have tried.
#include "src/tune/tuned_configs.h"

#include <utility>

#include "src/tune/signature.h"

namespace sinter {
std::string_view name_of(ConfigOrigin origin) {
  switch (origin) {
    case ConfigOrigin::tuned:
      return "tuned";
    case ConfigOrigin::unsuited:
      return "heuristic, because the tuned config does not fit this program";
    case ConfigOrigin::heuristic:
      break;
  }
  return "heuristic";
}

ConfigSource heuristic_configs(const Machine& machine) {
  return [machine](const Plan&, int, const IterationSpace& space) {
    return ChosenConfig{choose_config(space, machine)};
  };
}

ConfigSource tuned_configs(const TuningStore& store, std::string model, const Machine& machine,
                           bool same_bits) {
  if (machine.kind != MachineKind::gpu || !store.has_model(model))
    return heuristic_configs(machine);
  return [&store, model = std::move(model), machine, same_bits](const Plan& plan, GroupId group,
                                                                const IterationSpace& space) {
    ChosenConfig chosen{choose_config(space, machine)};
    const std::string signature = group_signature(plan, group, space);
    for (bool as_promised : {same_bits, !same_bits}) {
      const auto entry = store.find({model, signature, as_promised});
      if (!entry) continue;
      const std::optional<Config> config =
          matching(entry->choice, candidate_configs(space, machine, same_bits));
      if (config) return ChosenConfig{*config, ConfigOrigin::tuned};
      chosen.origin = ConfigOrigin::unsuited;
    }
    return chosen;
  };
}

}  // namespace sinter
