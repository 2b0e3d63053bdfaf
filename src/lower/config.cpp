// The heuristic: put the axis that memory is contiguous along on the tile's columns, take several
// rows where columns are few, and make tiles square-ish where some access runs across.
#include "src/lower/config.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "src/base/check.h"
#include "src/lower/gpu_config.h"

namespace sinter {
namespace {

constexpr std::int64_t kTileElements = 4096;   // of a tile of several rows: stays in L1
constexpr std::int64_t kLongestRow = 1 << 18;  // elements kept close as a whole
constexpr std::int64_t kShortRow = 16;         // shorter ones are better taken across
constexpr std::int64_t kColumnTile = 1024;
constexpr std::int64_t kTransposeTile = 64;  // columns, if neither side strides further
constexpr std::int64_t kTransposeRows = 32;
constexpr std::int64_t kTransposeElements = 2048;

std::int64_t bucket(std::int64_t size) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 16))));
}

const SpaceAxis& axis_at(const IterationSpace& space, int axis) {
  return space.axes[static_cast<std::size_t>(axis)];
}

std::int64_t stride_at(const Access& access, int axis) {
  return access.strides[static_cast<std::size_t>(axis)];
}

// How many full-level accesses are contiguous along the axis. Not those that are the same all along
// `inner`: they are few elements.
int contiguous_accesses(const IterationSpace& space, int axis, int inner) {
  return static_cast<int>(
      std::count_if(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
        return access.level == Level::full && stride_at(access, axis) == 1 &&
               stride_at(access, inner) != 0;
      }));
}

// An access that is contiguous along a kept axis while it jumps along the tile's columns.
struct Crossing {
  int axis = -1;  // -1: there is none
  std::int64_t stride = 0;
};

Crossing find_crossing(const IterationSpace& space, int col_axis) {
  for (const Access& access : space.accesses) {
    const std::int64_t along = stride_at(access, col_axis);
    if (access.write || access.level == Level::row || along == 0 || along == 1) continue;
    for (int axis : space.kept_axes())
      if (axis != col_axis && stride_at(access, axis) == 1 && axis_at(space, axis).size >= 16)
        return {axis, std::abs(along)};
  }
  return {};
}

// Lines far apart fight for the same places in a cache: the side that strides further gets the
// smaller share of the tile.
void shape_crossing_tile(const IterationSpace& space, const Crossing& crossing, Config& config) {
  std::int64_t straight = 0;  // the widest stride of the other accesses along the rows
  for (const Access& access : space.accesses)
    if (access.level == Level::full && stride_at(access, config.col_axis) == 1)
      straight = std::max(straight, std::abs(stride_at(access, crossing.axis)));
  config.row_axis = crossing.axis;
  config.rows_first = true;              // the transposed input is read along its contiguous axis
  if (config.form != Form::pointwise) {  // the columns are a whole row
    config.tile_rows = std::clamp<std::int64_t>((1 << 16) / config.tile_cols, 16, kTransposeTile);
    return;
  }
  constexpr std::int64_t kMuchFurther = 4;
  std::int64_t cols = kTransposeTile;
  if (crossing.stride > kMuchFurther * straight) cols /= 2;
  if (straight > kMuchFurther * crossing.stride) cols *= 2;
  config.tile_cols = std::min(config.tile_cols, cols);
  config.tile_rows = std::min(kTransposeRows, kTransposeElements / cols);
}

int largest(const IterationSpace& space, const std::vector<int>& axes) {
  return *std::max_element(axes.begin(), axes.end(), [&](int a, int b) {
    return axis_at(space, a).size < axis_at(space, b).size;
  });
}

// Gives the tile several rows: of an axis that is read across if there is one, else of the kept
// axis next to the columns.
void choose_rows(const IterationSpace& space, Config& config) {
  if (const Crossing crossing = find_crossing(space, config.col_axis); crossing.axis >= 0)
    return shape_crossing_tile(space, crossing, config);
  std::vector<int> rows = space.kept_axes();
  std::erase(rows, config.col_axis);
  if (rows.empty()) return;
  const std::int64_t wanted = kTileElements / config.tile_cols;
  if (wanted < 2) return;
  config.row_axis = rows.back();
  config.tile_rows =
      std::min(wanted, std::min<std::int64_t>(64, bucket(axis_at(space, config.row_axis).size)));
}

Config pointwise_config(const IterationSpace& space) {
  Config config;
  if (space.axes.empty()) return config;
  config.col_axis = static_cast<int>(space.axes.size()) - 1;
  const int biggest = largest(space, space.kept_axes());
  if (axis_at(space, config.col_axis).size < kShortRow &&
      axis_at(space, biggest).size >= 4 * axis_at(space, config.col_axis).size)
    config.col_axis = biggest;
  config.tile_cols = std::min(bucket(axis_at(space, config.col_axis).size), 2 * kTileElements);
  choose_rows(space, config);
  return config;
}

Config reduction_config(const IterationSpace& space) {
  Config config;
  const std::vector<int> reduced = space.reduced_axes();
  const std::vector<int> kept = space.kept_axes();
  const int inner = reduced.back();
  int across = -1;  // the kept axis that competes for the columns
  for (int axis : kept)
    if (contiguous_accesses(space, axis, inner) > contiguous_accesses(space, inner, inner))
      across = axis;
  if (across < 0 && !kept.empty() && axis_at(space, inner).size < kShortRow) {
    const int biggest = largest(space, kept);
    if (axis_at(space, biggest).size >= 4 * kShortRow) across = biggest;
  }
  if (across >= 0) {
    config.form = Form::column;
    config.col_axis = across;
    config.tile_cols = std::min(bucket(axis_at(space, across).size), kColumnTile);
    return config;
  }
  config.col_axis = inner;
  config.tile_cols = bucket(axis_at(space, inner).size);
  if (reduced.size() == 1 && config.tile_cols <= kLongestRow) {
    config.form = Form::row;
    choose_rows(space, config);
  } else {
    config.form = Form::chunked;
    config.tile_cols = std::min(config.tile_cols, 4 * kTileElements);
  }
  return config;
}

}  // namespace

Config choose_config(const IterationSpace& space, std::int64_t bytes, const Machine& machine) {
  if (machine.kind == MachineKind::gpu) return choose_gpu_config(space, bytes, machine);
  Config config = space.reduced_axes().empty() ? pointwise_config(space) : reduction_config(space);
  if (bytes > machine.cache_bytes) config.caching = tile::Caching::nothing;
  return config;
}

std::string to_string(const Config& config) {
  constexpr const char* kForms[] = {"pointwise", "row", "chunked", "column"};
  std::string text = fmt::format("{} ({}, {})", kForms[static_cast<int>(config.form)],
                                 config.tile_rows, config.tile_cols);
  if (config.caching != tile::Caching::any)
    text += fmt::format(" keeps {}", name_of(config.caching));
  if (config.online) text += " online";
  const tile::Mapping& mapping = config.mapping;
  if (mapping.threads > 0)
    text +=
        fmt::format(", {} threads, {} a row, vectors of {}{}", mapping.threads,
                    mapping.threads_per_row, mapping.vector,
                    mapping.cluster > 1 ? fmt::format(", clusters of {}", mapping.cluster) : "");
  if (mapping.ahead > 0) text += fmt::format(", {} fetched ahead", mapping.ahead);
  return text;
}

}  // namespace sinter
