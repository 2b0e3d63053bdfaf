// Column: a kept axis lies along the tile's columns, with a loop over the reduced axes.
#include "src/lower/cpu_tilings.h"
#include "src/lower/families.h"
#include "src/lower/gpu_caching.h"
#include "src/lower/gpu_loop_configs.h"
#include "src/lower/reduction_layout.h"
#include "src/lower/rounds.h"
#include "src/lower/tiling_fields.h"

namespace sinter {
namespace {

Offer offer(const IterationSpace& space, const Machine& machine, Wanted) {
  if (space.reduced_axes().empty()) return refused("nothing is reduced");
  if (!reduces_columns(space, machine)) return refused("memory is contiguous along a reduced axis");
  const int column = kept_column(space, machine);
  if (machine.kind == MachineKind::cpu)
    return {
        {ColumnConfig{with_cpu_caching(cpu_column_tiling(space, column), space, machine)}}, "", {}};
  const GpuFacts facts(space, machine);
  Offer offer = gpu_column_offer(facts, column);
  choose_or_omit_caching(facts, true, offer);
  return offer;
}

Kernel lower_group(const Plan& plan, GroupId group, const IterationSpace& space,
                   const Config& config) {
  return lower_rounds(plan, group, space, tiling_of(config), is_online(config));
}

}  // namespace

Family column_family() {
  return {.name = "column",
          .offer = offer,
          .lower = lower_group,
          .same_bits = adds_in_same_order,
          .fields = looping_tiling_fields(),
          .describe = describe_tiling};
}

}  // namespace sinter
