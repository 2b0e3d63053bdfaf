// Pointwise: no reductions; each program computes one tile.
#include "src/lower/cpu_tilings.h"
#include "src/lower/families.h"
#include "src/lower/gpu_caching.h"
#include "src/lower/gpu_pointwise_configs.h"
#include "src/lower/tiling_fields.h"
#include "src/lower/whole_tiles.h"

namespace sinter {
namespace {

Offer offer(const IterationSpace& space, const Machine& machine, Wanted wanted) {
  if (!space.reduced_axes().empty()) return {{}, "the group reduces"};
  if (machine.kind == MachineKind::cpu)
    return {{PointwiseConfig{with_cpu_caching(cpu_pointwise_tiling(space), space, machine)}}, ""};
  const GpuFacts facts(space, machine);
  if (wanted == Wanted::all) return {with_cachings(facts, gpu_pointwise_configs(facts), false), ""};
  Tiling best = best_pointwise_tiling(facts);
  best.caching = gpu_caching(facts, false);
  return {{PointwiseConfig{best}}, ""};
}

Kernel lower_group(const Plan& plan, GroupId group, const IterationSpace& space,
                   const Config& config) {
  return lower_whole_tiles(plan, group, space, tiling_of(config));
}

}  // namespace

Family pointwise_family() {
  return {.name = "pointwise",
          .offer = offer,
          .lower = lower_group,
          .same_bits = [](const Config&, const Config&) { return true; },
          .fields = tiling_fields(),
          .describe = describe_tiling,
          // Programs that prefetch read elements of later ones.
          .is_elementwise =
              [](const Config& config) { return tiling_of(config).mapping.prefetch == 0; }};
}

}  // namespace sinter
