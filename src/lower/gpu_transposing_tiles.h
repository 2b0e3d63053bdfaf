// Tiles of pointwise kernels whose operands run along different axes: a block transposes some of
// them in shared memory. In: GpuFacts, the axis of the columns, and that along which the transposed
// operands are contiguous. Out: tilings.
#pragma once

#include <cstdint>
#include <optional>

#include "src/lower/config.h"
#include "src/lower/gpu_facts.h"

namespace sinter {

// Whether the transposed tensors, and the others, have large strides between rows.
struct LargeStrides {
  bool transposed;
  bool others;
};
LargeStrides large_strides(const GpuFacts& facts, int col_axis, int row_axis);

// Tiles of `rows` by `cols`, with `each` elements per thread.
Tiling transposing_tiling(const GpuFacts& facts, int col_axis, int row_axis, std::int64_t rows,
                          std::int64_t cols, int each);

// Tiles of whole rows that are too short to be cut at multiples of the vector: the tensors that are
// not transposed are moved as one run. Nothing if nothing is transposed, or if rows are long, or
// have gaps, or are few.
std::optional<Tiling> dense_transposing_tiling(const GpuFacts& facts);

}  // namespace sinter
