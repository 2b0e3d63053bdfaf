// Shared by the families with a tiling: the fields that the tuning file stores, and printing.
#pragma once

#include <span>
#include <string>

#include "src/lower/family.h"

namespace sinter {

std::span<const ConfigField> tiling_fields();          // pointwise
std::span<const ConfigField> row_tiling_fields();      // vectors and blocks depend on the size
std::span<const ConfigField> looping_tiling_fields();  // with `online`

// The tiling of a config as text, e.g. "row (1, 4096), 128 threads, ..".
std::string describe_tiling(const Config& config);

// Whether reductions add their elements in the same order.
bool adds_in_same_order(const Config& a, const Config& b);

}  // namespace sinter
