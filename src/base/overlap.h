// Overlap: whether two strided regions of memory share a byte. In: the addresses of their elements.
// Out: yes or no; exact, except that layouts too irregular to decide quickly count as overlapping.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "src/base/view.h"

namespace sinter {

// Elements of `element_bytes` each. The first is at `first`, whatever the view's offset; strides
// are not negative.
struct StridedMemory {
  const void* first = nullptr;
  const View* view = nullptr;
  std::size_t element_bytes = 1;
};

bool overlap(const StridedMemory& a, const StridedMemory& b);

// Visits the overlapping regions i < k for which wanted(i, k). Sweeps by address, so that only
// regions with intersecting byte ranges are compared.
void for_each_overlap(std::span<const StridedMemory> regions,
                      const std::function<bool(std::size_t, std::size_t)>& wanted,
                      const std::function<void(std::size_t, std::size_t)>& visit);

// Whether two elements of the view may be at the same address, as after expand().
bool overlaps_itself(const View& view);

}  // namespace sinter
