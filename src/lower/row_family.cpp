// Row: each program holds whole rows, so several reductions in sequence read the row once.
#include "src/base/check.h"
#include "src/lower/cpu_tilings.h"
#include "src/lower/families.h"
#include "src/lower/gpu_caching.h"
#include "src/lower/gpu_loop_configs.h"
#include "src/lower/gpu_row_configs.h"
#include "src/lower/gpu_transposed_rows.h"
#include "src/lower/reduction_layout.h"
#include "src/lower/tiling_fields.h"
#include "src/lower/whole_tiles.h"

namespace sinter {
namespace {

Offer offer(const IterationSpace& space, const Machine& machine, Wanted wanted) {
  if (std::string refusal = row_refusal(space, machine); !refusal.empty()) return refused(refusal);
  if (machine.kind == MachineKind::cpu)
    return {{RowConfig{with_cpu_caching(cpu_row_tiling(space, machine), space, machine)}}, "", {}};
  const GpuFacts facts(space, machine);
  Offer offer;
  if (const auto tiling = transposed_row_tiling(facts))
    offer = {{RowConfig{*tiling}}, "", {transposed_row_rule()}};
  else
    offer = gpu_row_offer(facts, space.reduced_axes().back(), wanted);
  choose_or_omit_caching(facts, false, offer);
  return offer;
}

Kernel lower_group(const Plan& plan, GroupId group, const IterationSpace& space,
                   const Config& config) {
  return lower_whole_tiles(plan, group, space, tiling_of(config));
}

}  // namespace

Family row_family() {
  return {.name = "row",
          .offer = offer,
          .lower = lower_group,
          .same_bits = adds_in_same_order,
          .fields = row_tiling_fields(),
          .describe = describe_tiling};
}

}  // namespace sinter
