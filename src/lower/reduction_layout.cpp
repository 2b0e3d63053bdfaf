// Dispatches on the machine's kind.
#include "src/lower/reduction_layout.h"

#include "src/base/check.h"
#include "src/lower/cpu_tilings.h"
#include "src/lower/gpu_loop_configs.h"
#include "src/lower/gpu_row_configs.h"
#include "src/lower/gpu_row_facts.h"
#include "src/lower/gpu_transposed_rows.h"

namespace sinter {

namespace {

// Strides do not tell with one row or one column, so a batch-invariant program goes by the axes
// that it names.
int traced_column(const IterationSpace& space, const Machine& machine) {
  const AxisList kept = space.kept_axes();
  if (kept.empty()) return -1;
  const int column = gpu_kept_column(GpuFacts(space, machine));
  return column >= 0 ? column : kept.back();
}

// Rows that are only reduced need not be held. A block that walks them has loads in flight all the
// time, where a cluster loads a row, reduces it and begins the next.
bool streams_rows(const IterationSpace& space, const Machine& machine, AxisId axis) {
  if (machine.kind != MachineKind::gpu || space.batch_invariant || space.needs_rows_again)
    return false;
  const GpuFacts facts(space, machine);
  return !facts.writes_elements() && facts.size(axis) > kLongest &&
         facts.kept_elements() >= machine.multiprocessors;
}

}  // namespace

bool reduces_columns(const IterationSpace& space, const Machine& machine) {
  return space.batch_invariant ? space.keeps_innermost : kept_column(space, machine) >= 0;
}

int kept_column(const IterationSpace& space, const Machine& machine) {
  if (space.batch_invariant) return traced_column(space, machine);
  return machine.kind == MachineKind::cpu ? cpu_kept_column(space)
                                          : gpu_kept_column(GpuFacts(space, machine));
}

std::string row_refusal(const IterationSpace& space, const Machine& machine) {
  const std::vector<int> reduced = space.reduced_axes();
  if (reduced.empty()) return "nothing is reduced";
  if (reduces_columns(space, machine)) return "memory is contiguous along a kept axis";
  if (reduced.size() > 1) return "several axes are reduced";
  if (machine.kind == MachineKind::gpu && transposed_row_tiling(GpuFacts(space, machine)))
    return "";
  if (streams_rows(space, machine, reduced[0]))
    return "long rows that are only reduced are streamed";
  const bool holds =
      machine.kind == MachineKind::cpu
          ? cpu_holds_rows(space)
          : !gpu_row_offer(GpuFacts(space, machine), reduced[0], Wanted::best).configs.empty();
  return holds ? ""
               : fmt::format("a row of {} elements does not fit on chip", space.size(reduced[0]));
}

}  // namespace sinter
