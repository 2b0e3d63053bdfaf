// Chunked: rows of several reduced axes, or rows too long to stay on chip, in a loop over chunks.
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
  if (reduces_columns(space, machine)) return refused("memory is contiguous along a kept axis");
  if (row_refusal(space, machine).empty()) return refused("rows fit on chip");
  if (machine.kind == MachineKind::cpu)
    return {{ChunkedConfig{with_cpu_caching(cpu_chunked_tiling(space), space, machine)}}, "", {}};
  const GpuFacts facts(space, machine);
  Offer offer = gpu_chunked_offer(facts, space.reduced_axes().back());
  choose_or_omit_caching(facts, true, offer);
  return offer;
}

Kernel lower_group(const Plan& plan, GroupId group, const IterationSpace& space,
                   const Config& config) {
  return lower_rounds(plan, group, space, tiling_of(config), is_online(config));
}

}  // namespace

Family chunked_family() {
  return {.name = "chunked",
          .offer = offer,
          .lower = lower_group,
          .same_bits = adds_in_same_order,
          .fields = looping_tiling_fields(),
          .describe = describe_tiling};
}

}  // namespace sinter
