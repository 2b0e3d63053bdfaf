// GpuFacts: the properties that GPU heuristics use. In: an IterationSpace and a Machine.
// Out: sizes, vector widths and memory layouts along the axes.
#pragma once

#include <cstdint>
#include <vector>

#include "src/base/machine.h"
#include "src/lower/iteration.h"

namespace sinter {

std::int64_t power_above(std::int64_t size);  // the smallest power of two >= size

struct Vectors {
  int width = 1;        // elements
  int aligned_to = -1;  // an index into IterationSpace::accesses; -1: all rows are aligned
};

struct GpuFacts {
  GpuFacts(const IterationSpace& s, const Machine& m) : space(s), machine(m) {}

  std::int64_t size(int axis) const { return space.size(axis); }
  static bool is_memory(const Access& access) { return access.element_bytes > 0; }

  int widest_vector(int axis) const;  // 16 bytes of the smallest contiguous element type
  // Vector width along an axis: the widest, reduced until every contiguous access is aligned to it.
  int vector_along(int axis) const;
  // The same, but not reduced where rows can be cut at the boundaries of one of their accesses
  // (Tiling::aligned_to): all writes have the same rows. Other reads are put together from the
  // packs around them.
  Vectors vectors_along(int axis) const;
  // The same for a reduced axis, where vectors are a part of the order of additions: in a
  // batch-invariant program they do not depend on where rows begin, nor on strides along the axis.
  Vectors row_vectors_along(int axis) const;
  // Whether rows along an axis begin anywhere and have few whole vectors.
  bool has_short_uneven_rows(int axis) const;
  // Whether tiles of whole rows along `col_axis` are runs in memory: every tensor's rows follow
  // each other along `row_axis`, or all rows share them, or have one element of them each.
  bool has_dense_rows(int col_axis, int row_axis) const;

  // A read with a different element at every point of the space: not broadcast, not per row.
  bool is_full_read(const Access& access) const;
  int full_reads() const;
  bool writes_elements() const;  // some write is per element, not per row
  std::int64_t written_bytes() const;
  // Whether an access has elements along the columns, rather than one for each row.
  static bool is_per_column(const Access& access, int col_axis);
  // All accesses along the columns have elements of at most 16 bits.
  bool is_narrow(int col_axis) const;
  bool is_16_bit(int col_axis) const;  // all have exactly 16 bits: packed halves (half2)
  // Whether some operand is broadcast along the rows.
  bool has_shared_operand(int col_axis, int row_axis) const;

  // A kept axis along which some read is contiguous although it is strided along `col_axis` (a
  // transposed read); -1 if there is none.
  int crossing(int col_axis) const;
  // Number of accesses contiguous along `axis`, except those broadcast along `inner`, which touch
  // few elements.
  int contiguous_accesses(int axis, int inner) const;
  // The largest stride in bytes along `axis` of the accesses that are contiguous along `other`.
  std::int64_t widest_step(int axis, int other) const;
  int largest(const std::vector<int>& axes) const;
  // The kept axis that supplies the rows of a multi-row tile: the innermost one besides the
  // columns, or the largest one if that is short; -1 if there is none.
  int row_axis_beside(int col_axis) const;

  std::int64_t elements() const;
  bool needs_wide_offsets() const;
  std::int64_t kept_elements() const;

  const IterationSpace& space;
  const Machine& machine;

 private:
  bool is_better_narrow(int axis, int even, int width) const;
};

}  // namespace sinter
