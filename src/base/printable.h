// Numbers as text for people and files.
#pragma once

#include <cmath>
#include <limits>

namespace sinter {

// The same number, but a NaN has no sign: fmt prints that of the processor's own NaN as "-nan".
inline double printable(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

}  // namespace sinter
