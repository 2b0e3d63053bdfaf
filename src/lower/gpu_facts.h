// GpuFacts: what a config for a GPU depends on. In: an IterationSpace and a Machine. Out: sizes,
// and how tensors lie along the axes.
#pragma once

#include <cstdint>
#include <vector>

#include "src/base/machine.h"
#include "src/lower/iteration.h"

namespace sinter {

std::int64_t power_above(std::int64_t size);  // the least power of two that is not less

struct GpuFacts {
  GpuFacts(const IterationSpace& s, const Machine& m) : space(s), machine(m) {}

  std::int64_t size(int axis) const { return space.size(axis); }
  static bool is_memory(const Access& access) { return access.element_bytes > 0; }

  // Elements that a thread takes at once along an axis: 16 bytes of the smallest type, as far as
  // every access begins at a multiple of that.
  int vector_along(int axis) const;

  // Tensors that are read element by element, not shared by rows.
  bool is_full_read(const Access& access) const;
  int full_reads() const;
  bool writes_elements() const;  // not only one for each row
  std::int64_t written_bytes() const;
  // All elements that are read or written one by one have 16 bits or less.
  bool is_narrow() const;
  bool is_of_pairs() const;  // just 16 bits
  // Whether some operand is the same for all rows.
  bool has_shared_operand(int col_axis, int row_axis) const;

  // A kept axis along which some full access is contiguous while it jumps along `col_axis`; -1.
  int crossing(int col_axis) const;
  // Not those that are the same all along `inner`: they are few elements.
  int contiguous_accesses(int axis, int inner) const;
  // Bytes from an element to the next along `axis`, the most of what is contiguous along `other`.
  std::int64_t widest_step(int axis, int other) const;
  int largest(const std::vector<int>& axes) const;
  // The kept axis that tiles of several rows take them from: next to the columns, unless it is
  // short; -1.
  int row_axis_beside(int col_axis) const;

  std::int64_t elements() const;
  bool needs_wide_offsets() const;
  std::int64_t kept_elements() const;

  const IterationSpace& space;
  const Machine& machine;
};

}  // namespace sinter
