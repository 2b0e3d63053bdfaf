// Rows that begin at any element: which part of an access's offset decides where its rows begin
// within a vector. In: an Access, the axis of the columns, a vector width. Out: that part.
#pragma once

#include <cstdint>

#include "src/lower/iteration.h"

namespace sinter {

// Elements between the boundary below an access's buffer offset and that offset. A kernel that
// aligns its vectors takes the buffer from the boundary on and adds them to the start.
std::int64_t lead_of(const Access& access, int vector);

// The offset of the access's first element from that boundary; 0 if it is a multiple of the vector.
std::int64_t uneven_start(const Access& access, int vector);
// Whether the access's rows begin at different places within a vector along this axis.
bool is_uneven_along(const Access& access, AxisId axis, int vector);

// Whether every row of the access begins on a vector boundary.
bool has_even_rows(const Access& access, AxisId col_axis, int vector);
// Whether the rows of both accesses begin at the same places within a vector.
bool have_same_rows(const Access& a, const Access& b, AxisId col_axis, int vector);

}  // namespace sinter
