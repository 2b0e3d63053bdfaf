// Time elapsed on the steady clock since a start point.
#pragma once

#include <chrono>

namespace sinter {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return seconds_since(start) * 1e3;
}

}  // namespace sinter
