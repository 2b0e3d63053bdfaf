// A power with a constant exponent as tile instructions.
#pragma once

#include "src/graph/power.h"
#include "src/tile/builder.h"

namespace sinter {

tile::ValueId emit_power(tile::Builder& b, tile::ValueId x, const PowerForm& form);

}  // namespace sinter
