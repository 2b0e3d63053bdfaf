// Time that has passed on the steady clock. In: when it began. Out: how long ago that was.
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
