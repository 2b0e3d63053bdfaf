// The vector width along an axis is limited by the alignment of the strides along all other axes.
#include "src/lower/gpu_facts.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "src/lower/row_alignment.h"
#include "src/tile/access.h"
#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

// Rows of fewer vectors are mostly first and last ones, which are not whole.
constexpr std::int64_t kLeastAlignedVectors = 8;
constexpr std::int64_t kSmall = 4096;  // elements per multiprocessor
constexpr std::int64_t kTiny = 512;

// Fewer elements of a column are in as many lines of memory either way.
constexpr std::int64_t kLeastCrossingRows = 4;

bool is_even(const Access& access, AxisId axis, int vector) {
  return access.offset % vector == 0 && access.start % vector == 0 &&
         has_even_rows(access, axis, vector) && has_even_jumps(access, axis, vector);
}

}  // namespace

std::int64_t power_above(std::int64_t size) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1))));
}

int GpuFacts::widest_vector(int axis) const {
  int smallest = tile::kPackBytes;
  for (const Access& access : space.accesses)
    if (is_memory(access) && access.stride(axis) == 1)
      smallest = std::min(smallest, access.element_bytes);
  return std::min(tile::kWidestVector, tile::kPackBytes / smallest);
}

// Whether narrow accesses are faster than cut rows: of 8 bytes in small tensors, and where rows
// share an operand, which would begin elsewhere; of 4 bytes in tiny ones.
bool GpuFacts::is_better_narrow(int axis, int even, int width) const {
  const bool shares =
      std::any_of(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
        return is_memory(access) && !access.write && access.stride(axis) == 1 &&
               !is_full_read(access);
      });
  if (2 * even == width) return shares || elements() < kSmall * machine.multiprocessors;
  const int bytes = even * tile::kPackBytes / width;
  return bytes >= 4 && elements() < kTiny * machine.multiprocessors;
}

Vectors GpuFacts::vectors_along(int axis) const {
  const int even = vector_along(axis);
  const int width = widest_vector(axis);
  const bool jumps =
      std::any_of(space.accesses.begin(), space.accesses.end(), [&](const Access& each) {
        return each.split && each.split->axis == axis && each.stride(axis) == 1;
      });
  if (even == width || jumps || size(axis) < kLeastAlignedVectors * width ||
      is_better_narrow(axis, even, width))
    return {even, -1};
  const auto is_along = [&](const Access& access) {
    return is_memory(access) && access.stride(axis) == 1;
  };
  // Reads can begin anywhere, so a write is best, then a tensor that is read once.
  const auto rank = [&](const Access& access) { return access.write ? 2 : is_full_read(access); };
  const Access* chosen = nullptr;
  for (const Access& access : space.accesses)
    if (is_along(access) && (!chosen || rank(access) > rank(*chosen))) chosen = &access;
  for (const Access& access : space.accesses)
    if (is_along(access) && access.write && !have_same_rows(access, *chosen, axis, width))
      return {even, -1};
  if (lead_of(*chosen, width) == 0 && has_even_rows(*chosen, axis, width)) return {width, -1};
  return {width, static_cast<int>(chosen - space.accesses.data())};
}

Vectors GpuFacts::row_vectors_along(int axis) const {
  if (!space.batch_invariant) return vectors_along(axis);
  int smallest = tile::kPackBytes;
  for (const Access& access : space.accesses)
    if (is_memory(access) && !access.per_row && access.stride(axis) != 0)
      smallest = std::min(smallest, access.element_bytes);
  return {std::min(tile::kWidestVector, tile::kPackBytes / smallest), -1};
}

bool GpuFacts::has_dense_rows(int col_axis, int row_axis) const {
  return row_axis >= 0 &&
         std::all_of(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
           if (!is_memory(access) || access.stride(col_axis) == 0) return true;
           if (access.stride(row_axis) == 0) return !access.write;
           return access.stride(col_axis) == 1 && access.stride(row_axis) == size(col_axis) &&
                  access.windows.empty() && !access.split;
         });
}

bool GpuFacts::has_short_uneven_rows(int axis) const {
  const int width = vectors_along(axis).width;
  const int widest = widest_vector(axis);
  const bool is_nearly_even = 2 * width >= widest && size(axis) >= kLeastAlignedVectors * width;
  return width < widest && size(axis) < kLeastAlignedVectors * widest && !is_nearly_even;
}

int GpuFacts::vector_along(int axis) const {
  int vector = widest_vector(axis);
  for (const Access& access : space.accesses)
    while (is_memory(access) && access.stride(axis) == 1 && !is_even(access, axis, vector))
      vector /= 2;
  return vector;
}

bool GpuFacts::is_full_read(const Access& access) const {
  if (access.write || access.per_row || !is_memory(access)) return false;
  for (AxisId axis = 0; axis < space.axes.end_id(); ++axis)
    if (space.axes[axis].size > 1 && access.strides[axis] == 0) return false;
  return true;
}

int GpuFacts::full_reads() const {
  return static_cast<int>(std::count_if(space.accesses.begin(), space.accesses.end(),
                                        [&](const Access& each) { return is_full_read(each); }));
}

bool GpuFacts::writes_elements() const {
  return std::any_of(space.accesses.begin(), space.accesses.end(),
                     [](const Access& access) { return access.write && !access.per_row; });
}

std::int64_t GpuFacts::written_bytes() const {
  std::int64_t bytes = 0;
  for (const Access& access : space.accesses)
    if (access.write)
      bytes += access.element_bytes * (access.per_row ? kept_elements() : elements());
  return bytes;
}

bool GpuFacts::is_per_column(const Access& access, int col_axis) {
  const bool moves = col_axis >= 0 && (access.stride(col_axis) != 0 ||
                                       (access.split && access.split->axis == col_axis));
  return is_memory(access) && !access.per_row && (moves || access.write);
}

bool GpuFacts::is_narrow(int col_axis) const {
  return std::all_of(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
    return !is_per_column(access, col_axis) || access.element_bytes <= 2;
  });
}

bool GpuFacts::is_16_bit(int col_axis) const {
  return std::all_of(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
    return !is_per_column(access, col_axis) || access.element_bytes == 2;
  });
}

bool GpuFacts::has_shared_operand(int col_axis, int row_axis) const {
  return std::any_of(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
    return is_memory(access) && access.stride(col_axis) != 0 && access.stride(row_axis) == 0;
  });
}

int GpuFacts::crossing(int col_axis) const {
  for (const Access& access : space.accesses) {
    const std::int64_t along = access.stride(col_axis);
    if (!is_memory(access) || access.write || access.per_row || along == 0 || along == 1) continue;
    for (int axis : space.kept_axes())
      if (axis != col_axis && access.stride(axis) == 1 && size(axis) >= kLeastCrossingRows)
        return axis;
  }
  return -1;
}

int GpuFacts::contiguous_accesses(int axis, int inner) const {
  return static_cast<int>(
      std::count_if(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
        return !access.per_row && is_memory(access) && access.stride(axis) == 1 &&
               access.stride(inner) != 0;
      }));
}

std::int64_t GpuFacts::widest_step(int axis, int other) const {
  std::int64_t widest = 0;
  for (const Access& access : space.accesses)
    if (is_memory(access) && access.stride(other) == 1)
      widest = std::max(widest, std::abs(access.stride(axis)) * access.element_bytes);
  return widest;
}

int GpuFacts::largest(const std::vector<int>& axes) const {
  return *std::max_element(axes.begin(), axes.end(),
                           [&](int a, int b) { return size(a) < size(b); });
}

int GpuFacts::row_axis_beside(int col_axis) const {
  constexpr std::int64_t kShort = 16;
  std::vector<int> kept = space.kept_axes();
  std::erase(kept, col_axis);
  if (kept.empty()) return -1;
  return size(kept.back()) >= kShort ? kept.back() : largest(kept);
}

bool GpuFacts::needs_wide_offsets() const {
  ByAxis<std::int64_t> sizes;
  for (const GroupAxis& axis : space.axes) sizes.push_back(axis.size);
  return std::any_of(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
    return sinter::needs_wide_offsets(access, sizes);
  });
}

std::int64_t GpuFacts::elements() const {
  std::int64_t count = 1;
  for (const GroupAxis& axis : space.axes) count *= axis.size;
  return count;
}

std::int64_t GpuFacts::kept_elements() const {
  std::int64_t count = 1;
  for (int axis : space.kept_axes()) count *= size(axis);
  return count;
}

}  // namespace sinter
