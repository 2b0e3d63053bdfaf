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
  if (space.reduced_axes().empty()) return {{}, "nothing is reduced"};
  if (kept_column(space, machine) >= 0) return {{}, "memory is contiguous along a kept axis"};
  if (row_refusal(space, machine).empty()) return {{}, "rows fit on chip"};
  if (machine.kind == MachineKind::cpu)
    return {{ChunkedConfig{with_cpu_caching(cpu_chunked_tiling(space), space, machine)}}, ""};
  const GpuFacts facts(space, machine);
  return {with_cachings(facts, gpu_chunked_configs(facts, space.reduced_axes().back()), true), ""};
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
