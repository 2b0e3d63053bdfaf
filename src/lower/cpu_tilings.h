// Tilings for CPUs: the axis along which memory is contiguous goes onto the tile's columns, short
// rows share a tile, and tiles are square-ish where some access is transposed.
// In: an IterationSpace. Out: one tiling for each family.
#pragma once

#include "src/base/machine.h"
#include "src/lower/config.h"
#include "src/lower/iteration.h"

namespace sinter {

Tiling cpu_pointwise_tiling(const IterationSpace& space);
// A whole row of the one reduced axis along the columns.
Tiling cpu_row_tiling(const IterationSpace& space);
Tiling cpu_column_tiling(const IterationSpace& space, int col_axis);
Tiling cpu_chunked_tiling(const IterationSpace& space);

// The kept axis that belongs on the columns of a reduction: memory is contiguous along it and not
// along the reduced axes, or the reduced axis is very short. -1 if there is none.
int cpu_kept_column(const IterationSpace& space);

// With results that bypass the cache if the group's data does not fit into it.
Tiling with_cpu_caching(Tiling tiling, const IterationSpace& space, const Machine& machine);

// Whether rows of the innermost reduced axis are short enough to stay in the cache.
bool cpu_holds_rows(const IterationSpace& space);

}  // namespace sinter
