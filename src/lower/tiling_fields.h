// The fields of a Tiling that the tuning file stores, for the families that have one.
#pragma once

#include <span>

#include "src/lower/family.h"

namespace sinter {

std::span<const ConfigField> tiling_fields();          // pointwise
std::span<const ConfigField> row_tiling_fields();      // vectors and blocks follow from the size
std::span<const ConfigField> looping_tiling_fields();  // with `online`

// Whether reductions add their elements in the same order.
bool adds_in_same_order(const Config& a, const Config& b);

}  // namespace sinter
