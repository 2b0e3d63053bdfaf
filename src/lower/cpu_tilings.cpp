// The CPU heuristics.
#include "src/lower/cpu_tilings.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace sinter {
namespace {

constexpr std::int64_t kTileElements = 4096;    // of a multi-row tile: stays in L1
constexpr std::int64_t kStoredElements = 1024;  // of one stored to memory after a reduction
constexpr std::int64_t kLongestRow = 1 << 18;   // elements
constexpr std::int64_t kShortRow = 16;          // below this, another axis makes better columns
constexpr std::int64_t kColumnTile = 1024;
constexpr std::int64_t kTransposeTile = 64;  // columns, if both sides have similar strides
constexpr std::int64_t kTransposeRows = 32;
constexpr std::int64_t kTransposeElements = 2048;

std::int64_t bucket(std::int64_t size) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 16))));
}

// Number of accesses contiguous along the axis, except those broadcast along `inner`, which touch
// few elements.
int contiguous_accesses(const IterationSpace& space, int axis, int inner) {
  return static_cast<int>(
      std::count_if(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
        return !access.per_row && access.stride(axis) == 1 && access.stride(inner) != 0;
      }));
}

// A transposed access: contiguous along a kept axis, strided along the tile's columns.
struct Crossing {
  int axis = -1;  // -1: there is none
  std::int64_t stride = 0;
};

Crossing find_crossing(const IterationSpace& space, int col_axis) {
  for (const Access& access : space.accesses) {
    const std::int64_t along = access.stride(col_axis);
    if (access.write || access.per_row || along == 0 || along == 1) continue;
    for (int axis : space.kept_axes())
      if (axis != col_axis && access.stride(axis) == 1 && space.size(axis) >= 16)
        return {axis, std::abs(along)};
  }
  return {};
}

// Cache lines with large strides compete for the same cache sets, so the side with the larger
// stride gets the shorter side of the tile.
void shape_transposing_tile(const IterationSpace& space, const Crossing& crossing, Tiling& tiling) {
  std::int64_t straight = 0;  // the largest row stride of the untransposed accesses
  for (const Access& access : space.accesses)
    if (!access.per_row && access.stride(tiling.col_axis) == 1)
      straight = std::max(straight, std::abs(access.stride(crossing.axis)));
  constexpr std::int64_t kMuchFurther = 4;
  std::int64_t cols = kTransposeTile;
  if (crossing.stride > kMuchFurther * straight) cols /= 2;
  if (straight > kMuchFurther * crossing.stride) cols *= 2;
  tiling.tile_cols = std::min(tiling.tile_cols, cols);
  tiling.tile_rows = std::min(kTransposeRows, kTransposeElements / cols);
}

int largest(const IterationSpace& space, const std::vector<int>& axes) {
  return *std::max_element(axes.begin(), axes.end(),
                           [&](int a, int b) { return space.size(a) < space.size(b); });
}

// Gives the tile several rows: along the contiguous axis of a transposed access if there is one,
// otherwise along the innermost other kept axis. Returns the transposed access.
Crossing choose_rows(const IterationSpace& space, std::int64_t elements, Tiling& tiling) {
  if (const Crossing crossing = find_crossing(space, tiling.col_axis); crossing.axis >= 0) {
    tiling.row_axis = crossing.axis;
    tiling.rows_first = true;  // the transposed input is read along its contiguous axis
    return crossing;
  }
  std::vector<int> rows = space.kept_axes();
  std::erase(rows, tiling.col_axis);
  const std::int64_t wanted = elements / tiling.tile_cols;
  if (rows.empty() || wanted < 2) return {};
  tiling.row_axis = rows.back();
  tiling.tile_rows =
      std::min(wanted, std::min<std::int64_t>(64, bucket(space.size(tiling.row_axis))));
  return {};
}

}  // namespace

Tiling cpu_pointwise_tiling(const IterationSpace& space) {
  Tiling tiling;
  if (space.axes.empty()) return tiling;
  tiling.col_axis = space.axes.end_id() - 1;
  const int biggest = largest(space, space.kept_axes());
  if (space.size(tiling.col_axis) < kShortRow &&
      space.size(biggest) >= 4 * space.size(tiling.col_axis))
    tiling.col_axis = biggest;
  tiling.tile_cols = std::min(bucket(space.size(tiling.col_axis)), 2 * kTileElements);
  if (const Crossing crossing = choose_rows(space, kTileElements, tiling); crossing.axis >= 0)
    shape_transposing_tile(space, crossing, tiling);
  return tiling;
}

Tiling cpu_row_tiling(const IterationSpace& space, const Machine& machine) {
  Tiling tiling;
  tiling.col_axis = space.reduced_axes().back();
  tiling.tile_cols = bucket(space.size(tiling.col_axis));
  // Every tile is read first and stored last: small tiles mix the two, which keeps memory busy.
  // In the cache, fewer and larger programs cost less.
  const bool stores = space.bytes > machine.cache_bytes &&
                      std::any_of(space.accesses.begin(), space.accesses.end(),
                                  [](const Access& a) { return a.write && !a.per_row; });
  if (choose_rows(space, stores ? kStoredElements : kTileElements, tiling).axis >= 0)
    tiling.tile_rows = std::clamp<std::int64_t>((1 << 16) / tiling.tile_cols, 16, kTransposeTile);
  return tiling;
}

Tiling cpu_column_tiling(const IterationSpace& space, int col_axis) {
  Tiling tiling;
  tiling.col_axis = col_axis;
  tiling.tile_cols = col_axis < 0 ? 1 : std::min(bucket(space.size(col_axis)), kColumnTile);
  return tiling;
}

Tiling cpu_chunked_tiling(const IterationSpace& space) {
  Tiling tiling;
  tiling.col_axis = space.reduced_axes().back();
  tiling.tile_cols = std::min(bucket(space.size(tiling.col_axis)), 4 * kTileElements);
  return tiling;
}

int cpu_kept_column(const IterationSpace& space) {
  const std::vector<int> kept = space.kept_axes();
  const int inner = space.reduced_axes().back();
  int column = -1;
  for (int axis : kept)
    if (contiguous_accesses(space, axis, inner) > contiguous_accesses(space, inner, inner))
      column = axis;
  if (column >= 0 || kept.empty() || space.size(inner) >= kShortRow) return column;
  const int biggest = largest(space, kept);
  return space.size(biggest) >= 4 * kShortRow ? biggest : -1;
}

Tiling with_cpu_caching(Tiling tiling, const IterationSpace& space, const Machine& machine) {
  if (space.bytes > machine.cache_bytes) tiling.caching = tile::Caching::nothing;
  return tiling;
}

bool cpu_holds_rows(const IterationSpace& space) {
  return bucket(space.size(space.reduced_axes().back())) <= kLongestRow;
}

}  // namespace sinter
