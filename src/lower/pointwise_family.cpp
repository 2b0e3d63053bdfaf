// Pointwise: no reductions; each program computes one tile.
#include "src/lower/cpu_tilings.h"
#include "src/lower/families.h"
#include "src/lower/gpu_caching.h"
#include "src/lower/gpu_pointwise_configs.h"
#include "src/lower/gpu_transposing_tiles.h"
#include "src/lower/tiling_fields.h"
#include "src/lower/whole_tiles.h"

namespace sinter {
namespace {

Offer gpu_offer(const GpuFacts& facts, Wanted wanted) {
  Offer offer = wanted == Wanted::all ? gpu_pointwise_offer(facts) : best_pointwise_offer(facts);
  if (wanted == Wanted::all)
    choose_or_omit_caching(facts, false, offer);
  else
    choose_caching(facts, false, offer);
  return offer;
}

Offer offer(const IterationSpace& space, const Machine& machine, Wanted wanted) {
  if (!space.reduced_axes().empty()) return refused("the group reduces");
  if (machine.kind == MachineKind::cpu)
    return {
        {PointwiseConfig{with_cpu_caching(cpu_pointwise_tiling(space), space, machine)}}, "", {}};
  const GpuFacts facts(space, machine);
  if (!space.axes.empty() && facts.has_short_uneven_rows(space.axes.end_id() - 1) &&
      !dense_transposing_tiling(facts))
    if (const auto flat = with_flat_rows(space)) {
      Offer offer = gpu_offer(GpuFacts(*flat, machine), wanted);
      for (Config& config : offer.configs) std::get<PointwiseConfig>(config).flat_rows = true;
      return offer;
    }
  return gpu_offer(facts, wanted);
}

Kernel lower_group(const Plan& plan, GroupId group, const IterationSpace& space,
                   const Config& config) {
  const auto& [tiling, flat_rows] = std::get<PointwiseConfig>(config);
  return lower_whole_tiles(plan, group, flat_rows ? *with_flat_rows(space) : space, tiling);
}

std::string describe(const Config& config) {
  return describe_tiling(config) +
         (std::get<PointwiseConfig>(config).flat_rows ? ", rows as one" : "");
}

}  // namespace

Family pointwise_family() {
  return {.name = "pointwise",
          .offer = offer,
          .lower = lower_group,
          .same_bits = [](const Config&, const Config&) { return true; },
          .fields = tiling_fields(),
          .describe = describe,
          // Programs that prefetch read elements of later ones.
          .is_elementwise =
              [](const Config& config) { return tiling_of(config).mapping.prefetch == 0; }};
}

}  // namespace sinter
