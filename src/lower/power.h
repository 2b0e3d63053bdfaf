// Emits tile instructions for a power with a constant exponent.
#pragma once

#include "src/graph/power.h"
#include "src/tile/builder.h"

namespace sinter {

tile::ValueId emit_power(tile::Builder& b, tile::ValueId x, const PowerForm& form);

}  // namespace sinter
