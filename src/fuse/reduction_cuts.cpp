// Prefers the outermost axis that gives enough parts: their elements are then closest together.
#include "src/fuse/reduction_cuts.h"

#include <algorithm>
#include <bit>

#include "src/base/rounding.h"

namespace sinter {
namespace {

constexpr std::int64_t kWorthSplitting = 1 << 17;  // elements
constexpr std::int64_t kSmallestRowPart = 2048;    // elements
constexpr std::int64_t kColumnsAtOnce = 256;       // adjacent results that one worker computes
constexpr std::int64_t kEvenPart = 16;             // elements: keeps parts aligned for vector loads
constexpr std::int64_t kPartsPerWorker = 16;       // at most
constexpr std::int64_t kSmallOverlap = 32;         // one in so many elements is read twice
constexpr std::int64_t kNarrow = 64;               // columns: a tile of them has many rows
constexpr std::int64_t kFewestColumns = 8;         // of a tile
constexpr std::int64_t kWorthSplittingProducts = 1 << 20;
constexpr std::int64_t kProductTile = 64 * 64;       // results that one worker computes
constexpr std::int64_t kSmallestProductPart = 1024;  // of the summed axis

std::int64_t power_above(std::int64_t columns) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max(columns, kFewestColumns))));
}

// `count` parts that cover the axis, each beginning at a multiple of `even`.
Cut parts(int axis, std::int64_t length, std::int64_t count, std::int64_t even) {
  const std::int64_t step = length / count / even * even;
  return {axis, count, step, length - (count - 1) * step};
}

// Equal parts that begin evenly, else equal parts, else those that overlap least.
Cut best_parts(int axis, std::int64_t length, std::int64_t most, std::int64_t least,
               std::int64_t even) {
  for (const std::int64_t multiple : {even, std::int64_t{1}})
    for (std::int64_t count = most; count >= least; --count)
      if (length % count == 0 && length / count % multiple == 0)
        return {axis, count, length / count, length / count};
  Cut best = parts(axis, length, most, 1);
  for (const std::int64_t multiple : {even, std::int64_t{1}})
    for (std::int64_t count = most; count >= least; --count) {
      const Cut cut = parts(axis, length, count, multiple);
      if (cut.step == 0) continue;
      if ((cut.size - cut.step) * kSmallOverlap <= cut.step) return cut;
      if ((cut.size - cut.step) * best.step < (best.size - best.step) * cut.step) best = cut;
    }
  return best;
}

// As few parts as possible of at most `most` elements.
Cut parts_of_size(int axis, std::int64_t length, std::int64_t most) {
  Cut cut = parts(axis, length, ceil_div(length, most), 1);
  while (cut.size > most && cut.step > 1) cut = parts(axis, length, cut.count + 1, 1);
  return cut;
}

}  // namespace

// Whether a result's elements are adjacent in memory, rather than results.
bool CutChooser::walks_rows(const Node& reduction) const {
  if (options_.batch_invariant) return !reduction.keeps_innermost;
  return reduction.axes >> (reduction.operands[0].view.shape.rank() - 1) & 1;
}

// Workers that the reduction occupies without being cut.
std::int64_t CutChooser::tasks_of(const Node& reduction) const {
  if (options_.batch_invariant) return 1;
  const std::int64_t results = reduction.shape.numel();
  return walks_rows(reduction) ? results : results / kColumnsAtOnce;
}

bool CutChooser::is_worth_cutting(const Node& reduction) const {
  constexpr std::int64_t kWorthwhileParts = 16;
  const std::int64_t elements = reduction.operands[0].view.shape.numel();
  const std::int64_t results = reduction.shape.numel();
  const bool rows = walks_rows(reduction);
  if (elements == 0) return false;
  if (options_.batch_invariant)
    return elements / results > (rows ? std::max(options_.whole_row, kWorthSplitting)
                                      : kWorthwhileParts * options_.smallest_column_part);
  return elements >= kWorthSplitting && tasks_of(reduction) < parallelism_ &&
         (!rows || elements > options_.whole_row * results);
}

std::int64_t CutChooser::fewest_parts(std::int64_t tasks) const {
  const std::int64_t wanted = ceil_div(2L * parallelism_, std::max<std::int64_t>(1, tasks));
  return std::max<std::int64_t>(2, std::min<std::int64_t>(parallelism_, wanted));
}

std::optional<Cut> CutChooser::choose(const Node& reduction) const {
  const View& view = reduction.operands[0].view;
  if (view.shape.rank() == kMaxRank || !is_worth_cutting(reduction)) return std::nullopt;
  const std::int64_t tasks = tasks_of(reduction);
  Cut most;
  for (int axis = 0; axis < view.shape.rank(); ++axis) {
    if (!(reduction.axes >> axis & 1)) continue;
    const Cut cut = cut_axis(reduction, axis);
    if (cut.count >= fewest_parts(tasks)) return cut;
    if (cut.count > most.count) most = cut;
  }
  if (most.count < 2) return std::nullopt;
  return most;
}

// The best parts of one axis. Fewer than two: the axis is too short.
Cut CutChooser::cut_axis(const Node& reduction, int axis) const {
  const Shape& shape = reduction.operands[0].view.shape;
  const bool rows = walks_rows(reduction);
  const std::int64_t length = shape[axis];
  const std::int64_t results = std::max<std::int64_t>(reduction.shape.numel(), 1);
  const std::int64_t others = shape.numel() / length / results;
  const std::int64_t elements = rows ? kSmallestRowPart : options_.smallest_column_part;
  const std::int64_t smallest = std::max<std::int64_t>(1, elements / others);
  const std::int64_t columns = shape[shape.rank() - 1];
  if (!rows && others == 1 && columns <= kNarrow && options_.column_tile > 0 &&
      !options_.batch_invariant)
    return parts_of_size(axis, length, options_.column_tile / power_above(columns));
  const std::int64_t most = std::min(kPartsPerWorker * parallelism_, length / smallest);
  if (most < 2) return {};
  const bool is_inner = options_.batch_invariant ? rows : axis == shape.rank() - 1;
  return best_parts(axis, length, most, std::min(most, fewest_parts(tasks_of(reduction))),
                    is_inner ? kEvenPart : 1);
}

std::optional<Cut> CutChooser::choose_for_partials(const Shape& partials, int axis) const {
  const bool is_column = axis != partials.rank() - 1;
  const std::int64_t most = options_.column_tile / kFewestColumns / 2;
  if (!options_.fuse || options_.batch_invariant || !is_column || most == 0 ||
      partials[axis] <= most)
    return std::nullopt;
  return parts_of_size(axis, partials[axis], most / 2);
}

std::optional<Cut> CutChooser::choose_for_contraction(const Graph& graph, const Node& node) const {
  if (options_.batch_invariant) return std::nullopt;
  const View& view = node.operands[0].view;
  const bool runs_alone =
      options_.runs_alone && !options_.runs_alone(graph, node, dense_view(node.shape)).empty();
  if (view.shape.numel() < kWorthSplittingProducts || view.shape.rank() == kMaxRank ||
      !std::has_single_bit(node.axes) || runs_alone)
    return std::nullopt;
  const int axis = std::countr_zero(node.axes);
  const std::int64_t tiles = ceil_div(node.shape.numel(), kProductTile);
  const std::int64_t count =
      std::min(parallelism_ / tiles, view.shape[axis] / kSmallestProductPart);
  if (count < 2) return std::nullopt;
  const std::int64_t size = view.shape[axis] / count / kEvenPart * kEvenPart;
  return Cut{axis, view.shape[axis] / size, size, size};
}

}  // namespace sinter
