// Tilings for CPUs: the contiguous axis becomes the tile's columns, short rows share a tile, and
// tiles are closer to square if an access is transposed.
// In: an IterationSpace. Out: one tiling per family.
#pragma once

#include "src/base/machine.h"
#include "src/lower/config.h"
#include "src/lower/iteration.h"

namespace sinter {

Tiling cpu_pointwise_tiling(const IterationSpace& space);
// The columns hold a whole row along the single reduced axis.
Tiling cpu_row_tiling(const IterationSpace& space, const Machine& machine);
Tiling cpu_column_tiling(const IterationSpace& space, int col_axis);
Tiling cpu_chunked_tiling(const IterationSpace& space);

// The kept axis to use as a reduction's tile columns: memory is contiguous along it rather than
// along the reduced axes, or the reduced axis is very short. -1 if there is none.
int cpu_kept_column(const IterationSpace& space);

// Adds streaming stores, which bypass the cache, if the group's data does not fit it.
Tiling with_cpu_caching(Tiling tiling, const IterationSpace& space, const Machine& machine);

// Whether rows along the innermost reduced axis are short enough to stay in cache.
bool cpu_holds_rows(const IterationSpace& space);

}  // namespace sinter
