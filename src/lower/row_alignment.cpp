// Strides and starts that are multiples of the vector change nothing.
#include "src/lower/row_alignment.h"

namespace sinter {

std::int64_t lead_of(const Access& access, int vector) { return access.offset % vector; }

std::int64_t uneven_start(const Access& access, int vector) {
  const std::int64_t start = access.start + lead_of(access, vector);
  return start % vector == 0 ? 0 : start;
}

bool is_uneven_along(const Access& access, AxisId axis, int vector) {
  return access.strides[axis] % vector != 0;
}

bool has_even_rows(const Access& access, AxisId col_axis, int vector) {
  for (AxisId axis = 0; axis < access.strides.end_id(); ++axis)
    if (axis != col_axis && is_uneven_along(access, axis, vector)) return false;
  return uneven_start(access, vector) == 0;
}

bool have_same_rows(const Access& a, const Access& b, AxisId col_axis, int vector) {
  for (AxisId axis = 0; axis < a.strides.end_id(); ++axis) {
    if (axis == col_axis) continue;
    const bool is_uneven = is_uneven_along(a, axis, vector) || is_uneven_along(b, axis, vector);
    if (is_uneven && a.strides[axis] != b.strides[axis]) return false;
  }
  return uneven_start(a, vector) == uneven_start(b, vector);
}

}  // namespace sinter
