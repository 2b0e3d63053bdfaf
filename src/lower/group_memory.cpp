// How a group's values lie in memory: offsets, masks, loads and stores of its accesses. In: the
// tile's indices. Out: instructions. With Tiling::aligned_to the columns are cut at multiples of
// the vector.
#include <algorithm>

#include "src/lower/group_values.h"
#include "src/lower/row_alignment.h"

namespace sinter {

using tile::kNoValue;
using tile::ValueId;

std::size_t GroupValues::position_of(const Access& access) const {
  return static_cast<std::size_t>(&access - space_.accesses.data());
}

bool GroupValues::is_aligned(const Access& access) const {
  return tiling_.aligned_to >= 0 && access.element_bytes > 0 &&
         access.stride(tiling_.col_axis) == 1;
}

std::int64_t GroupValues::lead(const Access& access) const {
  return is_aligned(access) ? lead_of(access, tiling_.mapping.vector) : 0;
}

// The sum of an aligned access's start and of those steps to its row that are no multiples of the
// vector; kNoValue: there are none. Accesses with the same rows share it, from which the renderer
// sees that they are aligned together.
ValueId GroupValues::uneven_offset(const Access& access) {
  const int vector = tiling_.mapping.vector;
  const std::int64_t start = uneven_start(access, vector);
  std::vector<std::int64_t> steps;
  for (AxisId axis = 0; axis < space_.axes.end_id(); ++axis) {
    const bool is_uneven = axis != tiling_.col_axis && is_uneven_along(access, axis, vector);
    steps.push_back(is_uneven ? access.strides[axis] : 0);
  }
  const auto [known, fresh] = uneven_.try_emplace({start, steps}, kNoValue);
  if (!fresh) return known->second;
  ValueId sum = start == 0 ? b_.integer(0) : starts_[position_of(access)];
  for (AxisId axis = 0; axis < space_.axes.end_id(); ++axis)
    if (steps[static_cast<std::size_t>(axis)] != 0)
      sum = b_.add(sum, b_.mul(index_[axis], strides_[position_of(access)][axis]));
  const bool is_even = start == 0 && std::all_of(steps.begin(), steps.end(),
                                                 [](std::int64_t step) { return step == 0; });
  return known->second = is_even ? kNoValue : sum;
}

// The row's first element, counted from the boundary below it.
ValueId GroupValues::first_column() {
  const Access& access = space_.accesses[static_cast<std::size_t>(tiling_.aligned_to)];
  const ValueId offset = uneven_offset(access);
  return offset == kNoValue ? kNoValue : b_.modulo(offset, b_.integer(tiling_.mapping.vector));
}

ValueId GroupValues::offsets(const Access& access) {
  const std::size_t at = position_of(access);
  const int vector = tiling_.mapping.vector;
  const bool aligned = is_aligned(access);
  // Columns first: what is added to them stays visible to the renderer as a term of its own.
  ValueId sum = aligned ? index_[tiling_.col_axis] : b_.integer(0);
  if (const ValueId uneven = aligned ? uneven_offset(access) : kNoValue; uneven != kNoValue)
    sum = b_.add(sum, uneven);
  if (starts_[at] != kNoValue && !(aligned && uneven_start(access, vector) != 0))
    sum = b_.add(sum, starts_[at]);
  for (AxisId axis = 0; axis < space_.axes.end_id(); ++axis) {
    const bool is_done =
        aligned && (axis == tiling_.col_axis || is_uneven_along(access, axis, vector));
    if (access.strides[axis] != 0 && !is_done)
      sum = b_.add(sum, b_.mul(index_[axis], strides_[at][axis]));
  }
  if (!access.split) return sum;
  const SplitParams& split = split_params_[position_of(access)];
  const auto [outer, inner] = b_.divide(index_[access.split->axis], split.inner);
  if (access.split->outer_stride != 0) sum = b_.add(sum, b_.mul(outer, split.outer_stride));
  if (access.split->inner_stride != 0) sum = b_.add(sum, b_.mul(inner, split.inner_stride));
  return sum;
}

ValueId GroupValues::read_mask(const Access& access) {
  const auto moves_along = [&](AxisId axis) {
    return axis >= 0 && (access.stride(axis) != 0 || (access.split && access.split->axis == axis));
  };
  // A window that ends inside the axis takes the place of the axis' own mask.
  const auto is_cut = [&](AxisId axis) {
    const auto& bounds = window_params_[position_of(access)].bounds;
    return tiling_.aligned_to < 0 && std::any_of(bounds.begin(), bounds.end(), [&](const auto& b) {
             return b.axis == axis && b.last != kNoValue;
           });
  };
  const bool rows = moves_along(tiling_.row_axis) && !is_cut(tiling_.row_axis);
  const bool cols = moves_along(tiling_.col_axis) && !is_cut(tiling_.col_axis);
  return both(rows ? row_mask_ : kNoValue, cols ? col_mask_ : kNoValue);
}

// The mask of a padded view's window.
ValueId GroupValues::window_mask(const Access& access) {
  ValueId mask = kNoValue;
  for (const WindowParams::Bounds& bounds : window_params_[position_of(access)].bounds) {
    const ValueId index = index_[bounds.axis];
    if (bounds.first != kNoValue) mask = both(mask, b_.pointwise(Op::ge, {index, bounds.first}));
    if (bounds.last != kNoValue) mask = both(mask, b_.pointwise(Op::lt, {index, bounds.last}));
  }
  return mask;
}

ValueId GroupValues::zero(DType dtype) {
  return is_floating(dtype) ? b_.real(0, dtype) : b_.integer(0, dtype);
}

ValueId GroupValues::read(const Access& access) {
  const ValueId window = window_mask(access);
  const ValueId seen = read_inside(access, window);
  const ValueId fill = window_params_[position_of(access)].fill;
  const bool is_range = graph()[access.node].op == Op::iota;
  if (window == kNoValue || (fill == kNoValue && !is_range)) return seen;  // a load gives zeros
  return b_.pointwise(Op::where, {window, seen, fill == kNoValue ? zero(b_[seen].dtype) : fill});
}

// The access inside its window; elsewhere a load gives 0.
ValueId GroupValues::read_inside(const Access& access, ValueId window) {
  const Node& node = graph()[access.node];
  const DType dtype = compute_dtype(node.dtype);
  const std::size_t at = position_of(access);
  if (node.op == Op::iota) {
    const ValueId position = b_.cast(offsets(access), dtype);
    if (range_params_[at].step == kNoValue) return position;
    return b_.pointwise(Op::add, {range_params_[at].start,
                                  b_.pointwise(Op::mul, {position, range_params_[at].step})});
  }
  if (!access.per_row && counts_passes_)
    kernel_.passes = std::max(kernel_.passes, ++times_read_[at]);
  const ValueId mask = both(read_mask(access), window);
  // Reductions mask the columns outside a row that is cut, and stores mask what is outside the
  // data. In a GPU kernel without reductions nothing else reads it.
  const bool is_masked_later = tiling_.aligned_to >= 0 || (for_gpu() && space_.reductions == 0);
  const bool needs_zeros = window != kNoValue || !is_masked_later;
  const ValueId other = mask != kNoValue && needs_zeros ? zero(dtype) : kNoValue;
  return b_.load(buffers_[at], offsets(access), mask, other);
}

void GroupValues::write(NodeId id, ValueId value) {
  const Access& access = space_.find_write(id);
  const bool cols = !access.per_row || !col_is_reduced();
  const ValueId mask = both(row_mask_, cols ? col_mask_ : kNoValue);
  b_.store(buffers_[position_of(access)], offsets(access), value, mask);
}

// Moves the columns back to the boundary below the row's first element. Those before it are masked
// off like those beyond its end.
void GroupValues::align_columns(ValueId positions) {
  const AxisId axis = tiling_.col_axis;
  if (const ValueId first = first_column(); first != kNoValue) positions = b_.sub(positions, first);
  index_[axis] = positions;
  col_mask_ = both(b_.pointwise(Op::ge, {positions, b_.integer(0)}),
                   b_.pointwise(Op::lt, {positions, sizes_[axis]}));
}

}  // namespace sinter
